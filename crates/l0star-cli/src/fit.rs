//! `l0star fit`.

use std::process::ExitCode;

use l0star::search::Event;
use l0star::{Solution, Status};

use crate::args::FitArgs;
use crate::failure::{Failure, INTERRUPTED, LIMIT, SOLVED};
use crate::output::{self, Report};
use crate::progress::Listener;
use crate::ready::Job;
use crate::{interrupt, table};

/// From the arguments to the result; the exit code says what is proved of it.
pub fn run(args: &FitArgs) -> Result<ExitCode, Failure> {
    let mut job = Job::prepare(args)?;
    job.settings.interrupt = Some(interrupt::flag());
    let solution = solve(&job, Listener::new(args.log, args.quiet))?;

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

fn solve(job: &Job, mut listener: Listener) -> Result<Solution, Failure> {
    if !listener.listens() {
        return Ok(l0star::solve(&job.problem, &job.settings)?);
    }
    let observer = Box::new(|event: &Event| listener.hear(event));
    let solution = l0star::solve_observed(&job.problem, &job.settings, observer);
    listener.finish();
    Ok(solution?)
}
