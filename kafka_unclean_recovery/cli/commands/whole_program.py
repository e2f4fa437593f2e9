"""kafka-unclean-recovery with all its commands."""

from __future__ import annotations

from kafka_unclean_recovery.cli import entry
from kafka_unclean_recovery.cli.commands import (
    aftercare,
    approve,
    before_start,
    complete,
    doctor,
    emulator,
    explain,
    ok_to_stop,
    quorum,
    report,
    salvage,
    scan_log_dirs,
    spark,
    watch,
)
from kafka_unclean_recovery.cli.commands import plan as plan_from_disks
from kafka_unclean_recovery.cli.commands.unclean_recovery import NAME, new_app

app = new_app()
app.command(scan_log_dirs.NAME, short_help="Read how far the replicas in log directories go.")(
    scan_log_dirs.scan_log_dirs
)
app.command(plan_from_disks.NAME, short_help="Choose leaders from log directories alone.")(
    plan_from_disks.plan
)
app.command(doctor.NAME, short_help="Check that a recovery would work; nothing is changed.")(
    doctor.doctor
)
app.command(ok_to_stop.NAME, short_help="Tell whether brokers may be stopped.")(
    ok_to_stop.ok_to_stop
)
app.command(watch.NAME, short_help="Tell how many failures partitions stand, again and again.")(
    watch.watch
)
app.command(explain.NAME, short_help="Explain a finding or a check of doctor.")(explain.explain)
app.command(approve.NAME, short_help="Approve a plan as a second person.")(approve.approve)
app.add_typer(salvage.app, name=salvage.NAME)
app.add_typer(spark.app, name=spark.NAME)
app.command(aftercare.NAME, short_help="Show what an unclean election left behind.")(
    aftercare.aftercare
)
app.command(before_start.NAME, short_help="Foretell what a broker's start does to its disk.")(
    before_start.before_start
)
app.command(report.NAME, short_help="Write the post-mortem of a run from its journal.")(
    report.report
)
app.add_typer(quorum.app, name=quorum.NAME)
app.add_typer(emulator.app, name=emulator.NAME)
app.command(complete.NAME, hidden=True)(complete.complete)


def main() -> None:
    """Run any command line."""
    entry.main(app, NAME)
