import Media

/// The recording of one participant, from the first frame to the end: what comes goes through the intake, which places it,
/// into the files; the manifest says what became of it.
final class ParticipantRecording {
  /// What all recordings of a recorder share.
  struct Environment {
    let folder: RecordingDirectory
    let room: String
    let hold: Duration
    /// Where frames are decoded to verify them; nil if frames are not verified.
    let verification: VerificationPool?
    let segment: SegmentLimit?
    let health: StorageHealth
    /// Told each problem as it arises.
    let report: (RoomRecorder.Problem) -> Void
    /// Told when somebody's next frame should be a keyframe.
    let wantKeyframe: (ParticipantID) -> Void
  }

  /// How often the manifest is brought up to date while the recording grows.
  private static let manifestInterval = Duration.seconds(10)
  /// How long what comes may be taken in before it is seen what of it can be written: longer than the recorder takes from one
  /// look at the clock to the next, so that this is for what comes late and all at once.
  private static let maximumPause = RoomRecorder.tick * 2
  /// How long an ended recording waits for the verification of its last frames.
  private static let maximumVerification = Duration.seconds(2)

  let participant: ParticipantID
  private let name: String?
  private let clock: WallClock
  private let environment: Environment
  private let intake: FramePipeline
  private let files: RecordingFiles

  private var lastAdvance: MonotonicInstant?
  private var manifestFile: ManifestFile?
  private var manifestDue: MonotonicInstant?
  private var manifestChanges = 0
  /// The manifest as it was stored last; nil until it is finished.
  private var finalManifest: RecordingManifest?
  private var claimDue: MonotonicInstant?
  private var hasGivenUp = false
  private var hasReportedOverload = false
  private var ending: RecordingEndReason?
  /// Until when the verification of the last frames is waited for.
  private var verificationEnd: MonotonicInstant?
  /// Where the call ended; nil while it continues.
  private var callEnd: Duration?
  /// What is left behind; nil until the recording is closed, and for ever if there was nothing to record.
  private(set) var summary: RecordingSummary?
  /// Whether it has ended and nothing is to be done any more.
  private(set) var isClosed = false

  init(_ participant: ParticipantID, name: String?, clock: WallClock, environment: Environment) {
    self.participant = participant
    self.name = name
    self.clock = clock
    self.environment = environment
    intake = FramePipeline(hold: environment.hold, verification: environment.verification)
    files = RecordingFiles(of: participant, intake: intake, clock: clock, environment: environment)
  }

  /// Takes what the participant's media brought.
  ///
  /// - Parameter leftOut: frames of its track that were skipped before it, because the memory was full.
  func receive(_ event: MediaEvent, leftOut: Int = 0, now: MonotonicInstant) {
    if case .frame(let frame) = event, leftOut > 0 {
      files.countDropped(frame.codec.kind, UInt64(leftOut), because: frame.gap?.reason ?? .diskStalled)
    }
    if case .frame(let frame) = event, leftOut == 0, let gap = frame.gap, gap.reason == .overloaded,
      gap.packetsLost > 0
    {
      reportOverload(gap)
    }
    intake.receive(event, leftOut: leftOut, now: now)
    if lastAdvance.map({ now - $0 >= Self.maximumPause }) ?? true { advance(now: now) }
  }

  /// Writes what has waited for long enough, and tries again what the disk did not take.
  func advance(now: MonotonicInstant, everything: Bool = false) {
    if isClosed { return }
    lastAdvance = now
    if intake.firstArrival != nil, files.base == nil { claimName(now: now) }
    for timestamped in intake.release(now: now, everything: everything) where !hasGivenUp {
      files.write(timestamped, now: now)
    }
    files.advance(now: now)
    if let ending {
      let end = callEnd ?? intake.callEnd(ending, now: now)
      callEnd = end
      close(at: end, now: now)
    } else if manifestChanges != files.changes || manifestDue.map({ now >= $0 }) ?? false {
      storeManifest(now: now)
    }
  }

  /// Gives the frames that wait for their places those that they have as far as is known.
  func placeAll(now: MonotonicInstant) {
    if ending == nil { advance(now: now, everything: true) }
  }

  /// Ends the recording. It is closed as soon as the disk has taken everything; see `isClosed`.
  ///
  /// - Parameter leftOut: what was skipped because the memory was full, and no later frame told of.
  func end(_ reason: RecordingEndReason, leftOut: [MediaKind: DroppedFrameRun] = [:], now: MonotonicInstant) {
    if ending != nil { return }
    ending = reason
    files.stallTime.end = now
    for (kind, last) in leftOut { files.countDropped(kind, UInt64(max(0, last.count)), because: last.reason) }
    intake.end(leftOut: leftOut)
    verificationEnd = now + Self.maximumVerification
    advance(now: now, everything: true)
  }

  /// Ends an ended recording without the verification of its last frames, if that is all that it waits for.
  func finishUnverified(now: MonotonicInstant) {
    if isClosed { return }
    verificationEnd = now
    advance(now: now)
  }

  /// Closes an ended recording with what of it is on the disk.
  func giveUp(now: MonotonicInstant) {
    if isClosed { return }
    intake.endVerification()
    files.abandon(now: now)
    for key in [claimKey, manifestKey] { environment.health.forget(key) }
    let isWhole = !files.entries.isEmpty && files.entries.allSatisfy(\.complete)
    let unwritten = intake.tracks(clock: clock, written: files.written, isHeldUp: true).map(\.unwritten).max() ?? 0
    let rest = unwritten > 0 ? "the last \(unwritten) s" : "the rest"
    let sentence =
      "The recording of “\(participant)” could not be finished: the disk did not take \(rest) of it. "
      + (isWhole
        ? "Its files are closed, and end before that."
        : "Its files can be read as far as they go; a repair completes them.")
    files.note(sentence)
    environment.report(RoomRecorder.Problem(kind: .lost, participant: participant, sentence: sentence))
    // A disk that takes not even that has been told of.
    let last = manifest(isFinished: isWhole, now: now)
    if let json = try? last.json { try? manifestFile?.replace(json, isLast: true) }
    finalManifest = last
    isClosed = true
    summarise(isFinished: isWhole, now: now)
  }

  /// The disk gave no answer for a while.
  func noteHang(from start: MonotonicInstant, until stop: MonotonicInstant) {
    files.noteHang(from: start, until: stop)
  }

  /// Tells, once, that something is missing that this machine had no time to read.
  private func reportOverload(_ gap: MediaGap) {
    if hasReportedOverload { return }
    hasReportedOverload = true
    let sentence =
      "This machine had no time for all that “\(participant)” sent; the first time \(gap.packetsLost) packets were "
      + "not read. The manifest lists each gap."
    files.note(sentence)
    environment.report(RoomRecorder.Problem(kind: .overloaded, participant: participant, sentence: sentence))
  }

  // MARK: Standing

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { intake.heldBytes + files.heldBytes }

  /// Bytes of frames that wait for their places: they are held until it is known how audio and video belong together.
  var unsortedBytes: Int { intake.heldBytes }

  /// How it stands now.
  var status: RecordingStatus {
    let entries = files.entries
    return RecordingStatus(
      participant: participant, files: entries.map { "\(environment.folder.path)/\($0.name)" },
      bytes: entries.reduce(0) { $0 + $1.bytes }, duration: intake.duration, frames: intake.frames,
      decodeErrors: intake.decodeErrors, isStalled: files.isStalled, problems: files.problems)
  }

  // MARK: The end

  private func close(at end: Duration, now: MonotonicInstant) {
    files.finish(at: end, now: now)
    guard files.isDone || files.base == nil && intake.firstArrival == nil || hasGivenUp else { return }
    if !intake.isVerified {
      if let verificationEnd, now < verificationEnd { return }
      intake.endVerification()
    }
    if files.base != nil {
      if let manifestDue, manifestFailed, now < manifestDue { return }
      guard storeManifest(now: now, isLast: true) else { return }
    }
    isClosed = true
    summarise(isFinished: true, now: now)
  }

  private func summarise(isFinished: Bool, now: MonotonicInstant) {
    manifestFile = nil
    guard let base = files.base else { return }
    summary = RecordingSummary(
      participant: participant, folder: environment.folder.path, base: base,
      manifest: finalManifest ?? manifest(isFinished: isFinished, now: now),
      obstacle: files.isGivenUp ? files.lastError : nil)
  }

  // MARK: Name and manifest

  /// Takes a name that none of the three files has yet, by making the manifest under it.
  private func claimName(now: MonotonicInstant) {
    if hasGivenUp { return }
    if let claimDue, now < claimDue { return }
    let wanted = SafeFileName(of: name ?? participant.text).description
    let first = environment.segment == nil ? nil : 1
    do {
      for number in 1...10_000 {
        let base = number == 1 ? wanted : "\(wanted)-\(number)"
        let media = [WebMFile.ending, OggFile.ending].map { SafeFileName.file(base, segment: first, ending: $0) }
        if media.contains(where: environment.folder.contains) { continue }
        do {
          manifestFile = try ManifestFile(
            "\(base).json", in: environment.folder, text: manifest(isFinished: false, now: now).json)
        } catch let error as RoomRecorder.StorageError where error.isNameTaken {
          continue
        }
        environment.health.settled(claimKey, of: participant, now: now)
        files.base = base
        manifestDue = now + Self.manifestInterval
        return
      }
      refuse("Cannot find a free file name for “\(wanted)”: 10000 are taken.")
    } catch let error as RoomRecorder.StorageError {
      if claimDue == nil { files.note(error.description) }
      claimDue = now + StorageHealth.pause
      environment.health.failed(claimKey, of: participant, error: error, now: now)
    } catch {
      refuse("\(error)")
    }
  }

  private var claimKey: String { "\(participant)/name" }
  private var manifestKey: String { "\(participant)/manifest" }
  private var manifestFailed = false

  /// Nothing of this participant will be recorded.
  private func refuse(_ sentence: String) {
    hasGivenUp = true
    files.note(sentence)
    environment.report(RoomRecorder.Problem(kind: .lost, participant: participant, sentence: sentence))
  }

  private func manifest(isFinished: Bool, now: MonotonicInstant) -> RecordingManifest {
    let begin = intake.origin ?? intake.firstArrival ?? clock.moment
    var manifest = RecordingManifest(
      room: environment.room, user: participant.text, name: name, start: clock.text(at: begin))
    manifest.finished = isFinished
    manifest.left = ending
    manifest.alignment = intake.alignment
    manifest.files = files.entries
    manifest.tracks = intake.tracks(
      clock: clock, written: files.written, isHeldUp: files.isStalled || files.isGivenUp)
    manifest.duration = manifest.tracks.map(\.end).max() ?? 0
    manifest.disk = files.cost(now: now)
    manifest.overload = files.overload == RecordingManifest.Overload() ? nil : files.overload
    manifest.problems = files.problems
    return manifest
  }

  /// Brings the manifest up to date.
  ///
  /// - Parameter isLast: whether the recording is finished with it.
  /// - Returns: whether it is up to date.
  @discardableResult
  private func storeManifest(now: MonotonicInstant, isLast: Bool = false) -> Bool {
    guard manifestFile != nil else { return false }
    if !isLast, manifestFailed, let manifestDue, now < manifestDue { return false }
    do {
      let manifest = manifest(isFinished: isLast, now: now)
      try manifestFile?.replace(manifest.json, isLast: isLast)
      if isLast { finalManifest = manifest }
      manifestChanges = files.changes
      manifestDue = now + Self.manifestInterval
      manifestFailed = false
      environment.health.settled(manifestKey, of: participant, now: now)
      return true
    } catch let error as RoomRecorder.StorageError {
      if !manifestFailed { files.note(error.description) }
      manifestFailed = true
      manifestDue = now + StorageHealth.pause
      environment.health.failed(manifestKey, of: participant, error: error, now: now)
    } catch {
      files.note("\(error)")
      manifestChanges = files.changes
      return true
    }
    return false
  }
}
