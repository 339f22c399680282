from collections import defaultdict
from typing import Any

import accounts.names
import django.contrib.auth.validators
import django.db.models.functions.text
from django.core.management import CommandError
from django.db import migrations, models

from accounts.names import canonical_name

COLLISION = """Accounts whose names differ by case only, so that none of them can sign in by name: {names}.
Nothing was changed. Rename all but one of each, then migrate again:
  python manage.py shell -c "from accounts.models import User; User.objects.filter(pk=KEY).update(username='NEW')"
"""


def name_collisions(apps: Any, schema_editor: Any) -> None:
    """Stop with the names that differ only by case, before an index stops with none."""
    accounts = apps.get_model("accounts", "User").objects.using(schema_editor.connection.alias)
    by_name = defaultdict(list)
    for pk, name in accounts.order_by("pk").values_list("pk", "username"):
        by_name[canonical_name(name)].append(f"{name} (key {pk})")
    doubled = [", ".join(same) for same in by_name.values() if len(same) > 1]
    if doubled:
        raise CommandError(COLLISION.format(names="; ".join(doubled)))


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_people'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.RunPython(name_collisions, migrations.RunPython.noop),
        migrations.AlterModelManagers(
            name='user',
            managers=[
            ],
        ),
        migrations.AlterField(
            model_name='user',
            name='username',
            field=models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator(), accounts.names.validate_one_script], verbose_name='username'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='username_once_in_any_case', violation_error_message='A user with that username already exists.'),
        ),
    ]
