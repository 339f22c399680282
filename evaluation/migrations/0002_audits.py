import django.db.models.deletion
import evaluation.terms
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('machine_label', models.PositiveSmallIntegerField()),
                ('block', models.PositiveSmallIntegerField(default=0)),
                ('size', models.FloatField()),
                ('place', models.FloatField()),
                ('chance', models.FloatField(null=True)),
                ('known', models.BooleanField(default=False)),
                ('given', models.CharField(blank=True, max_length=20)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='studypair',
            name='study_pair_differs',
        ),
        migrations.AddField(
            model_name='study',
            name='design',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='study',
            name='draw',
            field=models.CharField(choices=[('disagreements', 'disagreements'), ('audit', 'audit')], default=evaluation.terms.DrawKind['DISAGREEMENTS'], max_length=13),
        ),
        migrations.AlterField(
            model_name='study',
            name='per_topic',
            field=models.PositiveSmallIntegerField(default=15, null=True),
        ),
        migrations.AlterField(
            model_name='study',
            name='person',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.judge'),
        ),
        migrations.AlterField(
            model_name='studypair',
            name='machine_label',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name='studypair',
            name='person_label',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('draw', evaluation.terms.DrawKind['AUDIT']), ('per_topic', None), ('person', None)), models.Q(('draw', evaluation.terms.DrawKind['DISAGREEMENTS']), ('per_topic__isnull', False), ('person__isnull', False)), _connector='OR'), name='study_has_what_its_draw_needs'),
        ),
        migrations.AddConstraint(
            model_name='studypair',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('machine_label', None), ('person_label', None)), models.Q(('machine_label__in', [0, 1, 2]), ('person_label__in', [0, 1, 2]), models.Q(('person_label', models.F('machine_label')), _negated=True)), _connector='OR'), name='study_pair_differs'),
        ),
        migrations.AddField(
            model_name='auditpair',
            name='answer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.answer'),
        ),
        migrations.AddField(
            model_name='auditpair',
            name='nugget_version',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.nuggetversion'),
        ),
        migrations.AddField(
            model_name='auditpair',
            name='segment',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.segment'),
        ),
        migrations.AddField(
            model_name='auditpair',
            name='sentence',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.sentence'),
        ),
        migrations.AddField(
            model_name='auditpair',
            name='study',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.study'),
        ),
        migrations.AddConstraint(
            model_name='auditpair',
            constraint=models.UniqueConstraint(fields=('study', 'answer', 'nugget_version'), name='audit_nugget_once'),
        ),
        migrations.AddConstraint(
            model_name='auditpair',
            constraint=models.UniqueConstraint(fields=('study', 'sentence', 'segment'), name='audit_citation_once'),
        ),
        migrations.AddConstraint(
            model_name='auditpair',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('nugget_version__isnull', False), ('segment', None), ('sentence', None)), models.Q(('nugget_version', None), ('segment__isnull', False), ('sentence__isnull', False)), _connector='OR'), name='audit_pair_is_one_of_two'),
        ),
        migrations.AddConstraint(
            model_name='auditpair',
            constraint=models.CheckConstraint(condition=models.Q(('machine_label__lte', 3), ('place__gt', 0), ('place__lt', 1), ('size__gt', 0)), name='audit_pair_is_drawable'),
        ),
        migrations.AddConstraint(
            model_name='auditpair',
            constraint=models.CheckConstraint(condition=models.Q(('chance', None), models.Q(('chance__gt', 0), ('chance__lte', 1)), _connector='OR'), name='audit_chance_is_a_probability'),
        ),
    ]
