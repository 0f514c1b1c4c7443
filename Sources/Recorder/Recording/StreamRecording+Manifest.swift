import Media

/// The name and the manifest of a recording.
extension StreamRecording {
  /// Claims a base name that none of the files uses yet, by creating the manifest with it.
  func claimName(now: MonotonicInstant) {
    if hasGivenUp { return }
    if let claimDue, now < claimDue { return }
    let wanted = wantedName
    do {
      for base in Self.names(like: wanted) where !hasMedia(base) {
        do {
          manifestFile = try ManifestFile(
            "\(base).json", in: environment.folder, text: manifest(isFinished: false, base: base, now: now).json)
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

  /// The user's name or id, or what the template says; for a further stream, the name of the first recording and the stream's
  /// number, unless the template has that.
  private var wantedName: String {
    let own = ownName
    guard let first, environment.fileName?.namesStreams != true else { return own }
    return SafeFileName.base(first.files.base ?? nextFreeName(like: own), stream: stream)
  }

  private var ownName: String {
    guard let template = environment.fileName else { return SafeFileName(of: name ?? participant.text).description }
    return template.name(
      of: FileNameTemplate.Values(
        room: environment.room, name: name, id: participant.text, stream: stream, session: environment.session.id,
        start: clock.text(at: clock.moment)))
  }

  /// Returns the name that the first recording would get now.
  private func nextFreeName(like wanted: String) -> String {
    Self.names(like: wanted).first { !hasMedia($0) && !environment.folder.contains("\($0).json") } ?? wanted
  }

  /// The wanted name, and those that are tried if it is taken.
  private static func names(like wanted: String) -> some Sequence<String> {
    (1...10_000).lazy.map { $0 == 1 ? wanted : "\(wanted)-\($0)" }
  }

  /// Whether media files of this name exist.
  private func hasMedia(_ base: String) -> Bool {
    let segment = environment.segment == nil ? nil : 1
    return RecordingFileKind.allCases.contains {
      environment.folder.contains(SafeFileName.file(base, segment: segment, ending: $0.rawValue))
    }
  }

  var claimKey: String { "\(participant)/\(stream)/name" }
  var manifestKey: String { "\(participant)/\(stream)/manifest" }

  /// - Parameter base: the name that is claimed with the manifest; nil for the claimed one.
  func manifest(isFinished: Bool, base: String? = nil, now: MonotonicInstant) -> RecordingManifest {
    let begin = start ?? clock.moment
    var manifest = RecordingManifest(
      room: environment.room, user: participant.text, name: name, start: clock.text(at: begin))
    manifest.session = RecordingManifest.Session(
      id: environment.session.id,
      offset: ((begin - environment.session.clock.moment).seconds * 1_000).rounded() / 1_000)
    manifest.fileName = environment.fileName == nil ? nil : base ?? files.base
    manifest.finished = isFinished
    manifest.endReason = ending
    manifest.stream = .init(number: stream, id: described.id, content: described.content)
    manifest.paths = paths.isEmpty ? nil : paths
    manifest.alignment = pipeline.alignment
    manifest.files = files.entries
    manifest.tracks = pipeline.tracks(
      clock: clock, written: files.written, isHeldUp: files.isStalled || files.isGivenUp)
    for index in manifest.tracks.indices {
      if manifest.tracks[index].kind == MediaKind.video.rawValue { manifest.tracks[index].refused += files.leftOut }
      manifest.tracks[index].id = MediaKind(rawValue: manifest.tracks[index].kind).flatMap { described.tracks[$0] }
    }
    manifest.duration = manifest.tracks.map(\.end).max() ?? 0
    manifest.disk = files.cost(now: now)
    manifest.overload = files.overload.isEmpty ? nil : files.overload
    manifest.memory = files.memory.isEmpty ? nil : files.memory
    manifest.problems = files.problems
    return manifest
  }

  /// Reports the files that were closed since the last time, when the manifest on the disk lists them as complete.
  private func reportSegments(in manifest: RecordingManifest) {
    guard environment.segment != nil, let base = files.base else { return }
    for file in files.closed.dropFirst(reportedFiles) where file.complete {
      environment.segmentFinished(
        RecordedSegment(
          participant: participant, stream: stream, name: name, folder: environment.folder.path, base: base,
          recordingStart: manifest.start, file: file))
    }
    reportedFiles = files.closed.count
  }

  /// Updates the manifest.
  ///
  /// - Parameter isLast: whether it is the final version.
  /// - Returns: whether the stored manifest is up to date.
  @discardableResult
  func storeManifest(now: MonotonicInstant, isLast: Bool = false) -> Bool {
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
      reportSegments(in: manifest)
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
