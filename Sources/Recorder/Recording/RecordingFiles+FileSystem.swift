import Media

/// The handling of files and frames while the disk accepts no writes.
extension RecordingFiles {
  /// Ends a file. It is closed as soon as the rest is on the disk.
  func end(_ file: some OutputContainer, now: MonotonicInstant) {
    guard !abandoned.contains(file.file.name) else { return }
    file.finish()
    closing.append(file)
    store(file, now: now)
  }

  /// Lets a file carry out its queued writes; a failure does not affect the other files.
  func store(_ file: some OutputContainer, now: MonotonicInstant) {
    if abandoned.contains(file.file.name) { return }
    let existed = file.file.exists
    do {
      try file.file.store()
      environment.health.settled(file.file.name, of: participant, now: now)
    } catch {
      if error.isNameTaken {
        note(error.description)
        environment.report(
          RoomRecorder.Problem(kind: .lost, participant: participant, stream: stream, sentence: error.description))
        abandon(file)
        return
      }
      stall(file.file.name, error: error, now: now)
    }
    if existed != file.file.exists { changes += 1 }
    if file.file.isComplete || (!file.file.isWaiting && !file.file.exists && isClosing(file)) {
      closing.removeAll { $0 === file }
      keep(file)
      changes += 1
    }
  }

  private func isClosing(_ file: some OutputContainer) -> Bool { closing.contains { $0 === file } }

  /// Stops writing a file.
  private func abandon(_ file: some OutputContainer) {
    abandoned.insert(file.file.name)
    countDropped(file.countedKind, file.unstoredFrames)
    closing.removeAll { $0 === file }
    file.file.abandon()
    environment.health.forget(file.file.name)
  }

  /// Handles a file that could not be created or written.
  private func stall(_ name: String, error: RoomRecorder.StorageError, now: MonotonicInstant) {
    environment.health.failed(name, of: participant, error: error, now: now)
    retryAt = now + StorageHealth.pause
    lastError = error
    guard stalledSince == nil else { return }
    stalledSince = now
    disk.stalls += 1
    note(error.description)
  }

  /// Retries what failed.
  func recover(now: MonotonicInstant) {
    retryAt = nil
    for file in open where file.file.isWaiting { store(file, now: now) }
    if retryAt == nil { endStall(now: now) }
  }

  private func endStall(now: MonotonicInstant) {
    guard let since = stalledSince else { return }
    stallTime.add(from: since, until: now)
    stalledSince = nil
    retryAt = nil
  }

  /// Returns the effects of the disk so far, for the manifest; nil when it kept up.
  func cost(now: MonotonicInstant) -> RecordingManifest.DiskStalls? {
    var disk = disk
    disk.duration = stallTime.total(since: stalledSince, now: now).roundedSeconds
    return disk == RecordingManifest.DiskStalls() ? nil : disk
  }

  /// Closes all files as they are on the disk, if the disk accepts the closing writes.
  func abandon(now: MonotonicInstant) {
    isGivenUp = true
    for file in open where !abandoned.contains(file.file.name) {
      countDropped(file.countedKind, file.unstoredFrames)
      if file.file.exists { closeAsStored(file) }
      keep(file)
      file.file.abandon()
      environment.health.forget(file.file.name)
    }
    (trailing, videoFile, audioFile) = (nil, nil, nil)
    lateAudio = []
    closing = []
    for timestamped in backlog { countDropped(timestamped.frame.codec.kind, 1) }
    backlog.removeAll()
    backlogBytes = 0
    endStall(now: now)
  }

  /// Closes a file with what is on the disk. Cues are left out if there is no space for them. If the disk accepts
  /// nothing, the file stays as it is.
  private func closeAsStored(_ file: some OutputContainer) {
    for omittingCues in [false, true] {
      let writes = file.closingWrites(omittingCues: omittingCues)
      if (try? file.file.close(with: writes.first, last: writes.last)) != nil { return }
    }
  }

  /// Records an interval in which the disk did not respond.
  func recordStall(from start: MonotonicInstant, until stop: MonotonicInstant) {
    disk.stalls += 1
    stallTime.add(from: max(start, clock.moment), until: stop)
  }

  /// Counts frames that will be in no file.
  func countDropped(_ kind: MediaKind, _ count: UInt64, because reason: MediaGap.Reason = .diskStalled) {
    switch (reason, kind) {
    case (.overloaded, _): overload.add(count, of: kind)
    case (.memoryFull, _): memory.add(count, of: kind)
    case (_, .video): disk.framesDropped += count
    case (_, .audio): disk.packetsDropped += count
    }
  }

  /// Adds a problem to the list, which keeps the newest 100.
  func note(_ sentence: String) {
    problems.append(sentence)
    if problems.count > 100 { problems.removeFirst() }
  }
}
