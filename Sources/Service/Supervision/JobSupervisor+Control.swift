package import JobProtocol
internal import Media
internal import NIOCore
package import SQLStore

extension JobSupervisor: JobControl {
  package func reserve(_ kind: JobKind) async throws(CapacityShortage) -> CapacityReservation {
    guard isStarted, !isDraining, !isDetached, !isCordoned, databaseProblem == nil else {
      throw CapacityShortage(.notAccepting)
    }
    accounts.freeDisk = disk.free(now: .now)
    let deadline = MonotonicInstant.now + Self.reservationWait
    while true {
      do throws(CapacityShortage) {
        return CapacityReservation(number: try accounts.reserve())
      } catch {
        // Many submissions of one job at once give their reservations back in a moment.
        guard accounts.hasOpenReservations, MonotonicInstant.now < deadline, !isDraining, !isDetached else {
          throw error
        }
        do { try await loop.sleep(for: .milliseconds(5)) } catch { throw CapacityShortage(.notAccepting) }
      }
    }
  }

  /// How long a submission waits for others that may give their reservations back.
  private static let reservationWait = Duration.seconds(1)

  package func release(_ reservation: CapacityReservation) { accounts.release(reservation.number) }

  package func submitted(_ job: JobID, reservation: CapacityReservation?) async {
    do {
      guard !isDetached, jobs[job] == nil, let record = try await store.job(job) else {
        if let reservation { accounts.release(reservation.number) }
        return
      }
      if isShared, record.node != node?.name {
        if let reservation { accounts.release(reservation.number) }
        return presence.lookSoon(at: .now)
      }
      try await take(record, reservation: reservation)
    } catch {
      // The next look at the database finds it.
      if let reservation { accounts.release(reservation.number) }
      report(error)
    }
  }

  package var nodeName: String? { node?.name }

  package func hasRoomElsewhere() async -> Bool { await hasOtherNode() }

  package func live(_ job: JobID) -> JobStatus? { jobs[job].flatMap { freshStatus(of: $0) } }

  package func statuses() -> [JobID: JobStatus] { jobs.compactMapValues { freshStatus(of: $0) } }

  private func freshStatus(of job: SupervisedJob) -> JobStatus? {
    guard let status = job.attempt?.status, .now - status.at < job.life.limits.answerWithin else { return nil }
    return status.value
  }

  package func snapshot(of user: String, in job: JobID) async throws(SnapshotProblem) -> [UInt8] {
    guard let attempt = jobs[job]?.attempt, let connection = attempt.connection else { throw .noProcess }
    let promise = loop.makePromise(of: [UInt8].self)
    let request = attempt.nextRequest()
    attempt.snapshots[request] = PendingSnapshot(promise)
    if !connection.send(ControlRequest(id: request, .snapshot(user: user, stream: nil))) {
      promise.fail(SnapshotProblem.noProcess)
    }
    let timer = loop.scheduleTask(in: .seconds(5)) { promise.fail(SnapshotProblem.noProcess) }
    defer {
      timer.cancel()
      attempt.snapshots[request] = nil
    }
    do {
      return try await promise.futureResult.get()
    } catch {
      throw error as? SnapshotProblem ?? .noProcess
    }
  }

  package var capacity: CapacityReport {
    accounts.freeDisk = disk.free(now: .now)
    return accounts.report
  }

  package var missing: [String] {
    var sentences: [String] = []
    if !isStarted { sentences.append("The service has not begun yet.") }
    if isDraining || isDetached { sentences.append("The service ends.") }
    if isCordoned, !isDraining { sentences.append("The node takes no jobs: an operator drains it.") }
    // Anybody may ask: hosts, users and names of the database stand in the log only.
    if databaseProblem != nil { sentences.append("The database does not answer.") }
    if let free = disk.free(now: .now), free < accounts.limits.minimumFreeDisk {
      sentences.append(
        CapacityShortage(.resource(.disk, needed: accounts.limits.minimumFreeDisk, free: free)).description)
    }
    return sentences
  }
}
