// Measures how late the machine runs a program at normal priority, beside a test that runs in real time.
//
//   stall-meter                 measures until standard input ends; for each line read it prints the figures so far as one
//                               line of JSON
//   stall-meter summary FILE    summarises a run's journal; exits with 1 if too many scenarios were not judged,
//                               or passed alone only
//
// Bursts of computing are needed for `/proc/self/schedstat`: a program that only sleeps is scheduled at once, however busy
// the machine is.

import Foundation
import MachineStalls

func text(of path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes.prefix(count), as: UTF8.self)
}

func counters() -> KernelCounters { KernelCounters(stat: text(of: "/proc/stat")) }

func ownCounters() -> KernelCounters { KernelCounters(schedstat: text(of: "/proc/self/schedstat")) }

func nanoseconds(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Sleeps until `deadline`.
func sleep(until deadline: UInt64) {
  var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
  clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil)
}

/// Whether standard input has data or has ended.
func isAsked() -> Bool {
  var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  return poll(&input, 1, 0) > 0
}

/// Prints the figures for each line read, and returns whether standard input continues.
func answer(_ samples: StallSamples) -> Bool {
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = read(STDIN_FILENO, &bytes, bytes.count)
  guard count > 0 else { return false }
  let figures = samples.figures(now: nanoseconds(CLOCK_MONOTONIC), counters: counters())
  guard let line = try? JSONEncoder().encode(figures) + Data("\n".utf8) else { return false }
  for byte in bytes.prefix(count) where byte == UInt8(ascii: "\n") {
    FileHandle.standardOutput.write(line)
  }
  return true
}

func measure() {
  let begun = nanoseconds(CLOCK_MONOTONIC)
  var samples = StallSamples(begun: begun, counters: counters())
  var tick: UInt64 = 0
  // The first burst is early, so that a short scenario is measured by at least one.
  var nextBurst: UInt64 = 2
  while true {
    tick += 1
    let due = begun + tick * StallSamples.period
    sleep(until: due)
    let now = nanoseconds(CLOCK_MONOTONIC)
    samples.add(lateness: now > due ? now - due : 0)
    // A late wake-up counts once, not also for the wake-ups that it skipped.
    tick = max(tick, (now - begun) / StallSamples.period)
    if isAsked(), !answer(samples) { return }
    guard tick >= nextBurst else { continue }
    nextBurst = tick + StallSamples.burstEvery
    let before = ownCounters()
    let end = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + StallSamples.burst
    while nanoseconds(CLOCK_THREAD_CPUTIME_ID) < end {}
    samples.addBurst(from: before, to: ownCounters())
    // The delay by the burst itself is not counted.
    tick = (nanoseconds(CLOCK_MONOTONIC) - begun) / StallSamples.period
  }
}

switch CommandLine.arguments.dropFirst().first {
case nil:
  measure()
case "summary":
  guard let path = CommandLine.arguments.dropFirst(2).first,
    let journal = try? String(contentsOfFile: path, encoding: .utf8)
  else {
    FileHandle.standardError.write(Data("stall-meter summary needs a readable journal.\n".utf8))
    exit(64)
  }
  let isStrict = ProcessInfo.processInfo.environment["STRICT"] == "1"
  let summary = RunSummary(of: ScenarioRecord.records(in: journal), isStrict: isStrict)
  for line in summary.lines { print(line) }
  exit(summary.isFailure ? 1 : 0)
default:
  FileHandle.standardError.write(Data("The only command of stall-meter is \"summary\".\n".utf8))
  exit(64)
}
