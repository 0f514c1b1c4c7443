internal import JSON
internal import JobProtocol
internal import Logging
internal import Media
internal import NIOPosix
internal import SQLStore

extension JobSupervisor {
  /// Takes over the attempt of an earlier service. Its journal is read from the beginning, since it says what the process has
  /// done; lines whose effect is in the database have no other one.
  func adopt(_ record: AttemptRecord, of job: SupervisedJob) async {
    let folder = AttemptDirectory(data: data, name: record.folder)
    let attempt = CurrentAttempt(
      number: Int(clamping: record.number), id: record.attemptID, folder: folder, isAdopted: true, now: .now)
    job.attempt = attempt
    accounts.begin(job.id, reservation: nil)
    let found = try? await files.runIfActive {
      let port = folder.specification()?.server.options["udpPort"]?.integer
      let fence = AttemptLock.fence(folder.path)
      // Before the specification goes: a process that does not find it says so there.
      let hasJournal = folder.hasJournal
      // The lock is given back when the files are stored: a process that comes still later finds nothing to do.
      if fence != nil { folder.removeSpecification() }
      return (fence: fence, port: port, hasJournal: hasJournal)
    }
    if let fence = found?.fence { job.fences.append(fence) }
    if let port = (found?.port).flatMap({ $0 }).flatMap({ UInt16(exactly: $0) }), port > 0 {
      job.port = port
      ports.take(port)
    }
    attempt.neverBegan = found.map { $0.fence != nil && !$0.hasJournal } ?? false
    attempt.process = AttemptProcess(adopted: folder, isFenced: found?.fence != nil)
    logger.info(
      found?.fence == nil ? "A process is taken over" : "A process has ended while no service ran",
      metadata: ["job": "\(job.id)", "attempt": "\(attempt.number)"])
  }
}
