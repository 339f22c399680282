from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('api', '0001_initial'),
    ]

    operations = [
        # What was being done is claimed in the cache now.
        migrations.RunSQL('DELETE FROM api_idempotencykey WHERE status IS NULL', migrations.RunSQL.noop),
        migrations.RemoveField(model_name='idempotencykey', name='attempt'),
        migrations.RemoveField(model_name='idempotencykey', name='begun_at'),
        migrations.AlterField(
            model_name='idempotencykey', name='body', field=models.TextField(),
        ),
        migrations.AlterField(
            model_name='idempotencykey', name='status', field=models.PositiveSmallIntegerField(),
        ),
    ]
