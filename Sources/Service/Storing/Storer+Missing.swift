internal import Media
internal import ObjectStore
internal import SQLStore

extension Storer {
  /// What is known of an attempt whose folder cannot be had: what it stored while it ran.
  ///
  /// - Throws: a ``StoringError`` if another node has the folder, and may still store it.
  func missing(_ attempt: AttemptRecord, _ job: JobRecord) async throws -> RecordedAttempt {
    var reason = "The folder is gone."
    var isNodeLost = false
    if !isOfThisNode(attempt), let node = attempt.node {
      let name = node.printable(utf8Bytes: 200)
      if let age = try await store.nodeAges()[node], age <= settings.nodeLossTimeout {
        throw StoringError(
          "The files of attempt \(attempt.number) are on the node \(name), which has not stored them yet.")
      }
      reason = "The node \(name), which had it, is lost."
      isNodeLost = true
    }
    let rows = try await store.files(of: job.id).filter { $0.attempt == attempt.number }
    var part = RecordedAttempt(
      attempt, journal: RecordedFolder.Journal(), manifests: try await manifests(of: rows))
    part.isNodeLost = isNodeLost
    part.participants = try await store.participants(of: job.id, attempt: attempt.number).map {
      RecordedAttempt.Participant(id: $0.user, name: $0.name, joined: $0.joined, left: $0.left)
    }
    part.objects = rows.map { RecordingDocument.Object($0) }
    part.missing.append(
      RecordingDocument.Missing(name: "\(attempt.number)-\(attempt.attemptID)", reason: reason))
    return part
  }

  /// The manifests that are in the store, and what the rows say of media files that none of them lists.
  private func manifests(of rows: [FileRecord]) async throws -> [RecordedManifest] {
    var manifests: [RecordedManifest] = []
    for row in rows where row.kind == "manifest" {
      guard let key = ObjectKey(row.object) else { continue }
      let text = try await objects.open(key).readAll(limit: RecordedManifest.maximumBytes)
      if let manifest = RecordedManifest(parsing: text) { manifests.append(manifest) }
    }
    let listed = Set(manifests.flatMap { $0.files.map { UntrustedText($0.name) } })
    struct Stream: Hashable {
      var user: UntrustedText
      var number: Int64
    }
    let media = rows.filter { row in
      MediaEnding(rawValue: row.kind) != nil && row.user != nil && row.start != nil
        && !listed.contains(UntrustedText(row.name))
    }
    let streams = Dictionary(grouping: media) {
      Stream(user: UntrustedText($0.user ?? ""), number: $0.stream ?? 1)
    }
    for (stream, rows) in streams.sorted(by: { ($0.key.user, $0.key.number) < ($1.key.user, $1.key.number) }) {
      manifests.append(RecordedManifest(stored: rows, user: stream.user.string, stream: stream.number))
    }
    return manifests
  }
}

extension RecordedManifest {
  /// What the rows of a stream's segments say: its manifest was lost with the machine.
  ///
  /// - Parameter rows: at least one.
  fileprivate init(stored rows: [FileRecord], user: String, stream: Int64) {
    let start = rows.compactMap(\.start).min() ?? 0
    self.init(user: user, stream: stream, start: start, finished: false, hasEndReason: false)
    files = rows.map { row in
      File(
        name: row.name, kind: row.kind, start: (row.start ?? start) - start, duration: row.duration ?? 0,
        complete: true, segment: row.segment)
    }
    for (kind, endings) in [("audio", ["ogg", "mka"]), ("video", ["webm", "mkv"])] {
      let own = files.filter { endings.contains($0.kind) }
      guard let first = own.map(\.start).min(), let last = own.map({ $0.start + $0.duration }).max() else { continue }
      tracks.append(Track(kind: kind, start: first, duration: last - first))
    }
  }
}
