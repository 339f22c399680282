from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', "0010_dashboard"),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='hourly_rate',
            field=models.DecimalField(blank=True, decimal_places=2, help_text="what an assessor's hour costs", max_digits=8, null=True),
        ),
    ]
