//! `l0star fit`.

use std::process::ExitCode;

use l0star::search::Event;
use l0star::{Checkpoint, Run, Solution, Status};

use crate::args::FitArgs;
use crate::checkpoint::Checkpoints;
use crate::failure::{Failure, INTERRUPTED, LIMIT, SOLVED};
use crate::output::{self, Report};
use crate::progress::Listener;
use crate::ready::Job;
use crate::{interrupt, table};

/// From the arguments to the result; the exit code says what is proved of it.
pub fn run(args: &FitArgs) -> Result<ExitCode, Failure> {
    let checkpoints = Checkpoints::prepare(args)?;
    let mut job = Job::prepare(args)?;
    job.settings.interrupt = Some(interrupt::flag());
    let listener = Listener::new(args.log, args.quiet);
    let solution = solve(&job, checkpoints, listener)?;

    let report = Report::new(&job, &solution);
    if let Some(path) = &args.out {
        report.save(path)?;
    }
    if args.json {
        output::print(&report.to_line())?;
    } else if !args.quiet {
        output::print(&table::render(&job, &solution))?;
    }
    Ok(ExitCode::from(match solution.status {
        Status::Optimal | Status::GapReached | Status::Heuristic => SOLVED,
        Status::TimeLimit | Status::NodeLimit | Status::MemoryLimit => LIMIT,
        Status::Interrupted => INTERRUPTED,
    }))
}

fn solve(
    job: &Job,
    mut checkpoints: Checkpoints,
    mut listener: Listener,
) -> Result<Solution, Failure> {
    let mut run = Run::new(&job.problem, &job.settings);
    if let Some(checkpoint) = checkpoints.resume.take() {
        run = run.resume(checkpoint);
    }
    if checkpoints.are_kept() {
        let every = checkpoints.every;
        let sink = Box::new(|checkpoint: &Checkpoint| checkpoints.write(checkpoint));
        run = run.save(every, sink);
    }
    if listener.listens() {
        run = run.observe(Box::new(|event: &Event| listener.hear(event)));
    }
    let solution = run.solve();
    listener.finish();
    Ok(solution?)
}
