internal import Media

extension RecordingDocument {
  /// Describes attempts: fills all fields that come from them.
  ///
  /// - Parameter parts: in the order of their numbers.
  package mutating func describe(_ parts: [RecordedAttempt]) {
    attempts = parts.map { part in
      Attempt(
        number: part.number, id: part.id, version: part.version, start: UTCTime(milliseconds: part.start).text,
        end: part.end.map { UTCTime(milliseconds: $0).text }, how: part.how, node: part.node,
        clockOffset: part.clockOffset.map { Double($0) / 1_000 }, clockError: part.clockError.map { Double($0) / 1_000 }
      )
    }
    objects = parts.flatMap(\.objects).sorted { $0.object.utf8.lexicographicallyPrecedes($1.object.utf8) }
    missing = parts.flatMap(\.missing)
    users = Self.users(of: parts)
    complete = missing.isEmpty && users.allSatisfy { $0.files.allSatisfy(\.complete) }
  }

  private static func users(of parts: [RecordedAttempt]) -> [User] {
    var users: [UntrustedText: User] = [:]
    for part in parts {
      for participant in part.participants {
        users[UntrustedText(participant.id), default: User(id: participant.id)].adopt(participant.name)
      }
      let objects = Dictionary(
        part.objects.map { (UntrustedText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
      for manifest in part.manifests {
        let id = UntrustedText(manifest.user)
        users[id, default: User(id: manifest.user)].adopt(manifest.name)
        users[id]?.files += manifest.files.compactMap { file in
          objects[UntrustedText(file.name)].map { File(file, of: manifest, as: $0) }
        }
      }
    }
    let own = parts.map { byUser($0) }
    let described = users.map { id, user in
      var user = user
      let timeline = UserTimeline(of: id, in: parts.indices.map { own[$0].parts[id] ?? own[$0].empty })
      user.gaps = timeline.gaps
      user.overlaps = timeline.overlaps
      user.files.sort { ($0.start, $0.object) < ($1.start, $1.object) }
      return user
    }
    return described.filter { !$0.files.isEmpty || !$0.gaps.isEmpty }
      .sorted { UntrustedText($0.id) < UntrustedText($1.id) }
  }

  /// Returns the attempt with what belongs to each user only, and with nothing of any: many may have come and gone.
  private static func byUser(
    _ part: RecordedAttempt
  ) -> (parts: [UntrustedText: RecordedAttempt], empty: RecordedAttempt) {
    var empty = part
    (empty.participants, empty.manifests, empty.objects, empty.missing) = ([], [], [], [])
    var parts: [UntrustedText: RecordedAttempt] = [:]
    for participant in part.participants {
      parts[UntrustedText(participant.id), default: empty].participants.append(participant)
    }
    for manifest in part.manifests { parts[UntrustedText(manifest.user), default: empty].manifests.append(manifest) }
    return (parts, empty)
  }
}

extension RecordingDocument.User {
  fileprivate mutating func adopt(_ name: String?) {
    if let name { self.name = name }
  }
}

extension RecordingDocument.File {
  fileprivate init(
    _ file: RecordedManifest.File, of manifest: RecordedManifest, as object: RecordingDocument.Object
  ) {
    self.init(
      object: object.object, kind: object.kind, bytes: object.bytes, sha256: object.sha256,
      start: UTCTime(milliseconds: manifest.start + file.start).text, duration: Double(file.duration) / 1_000,
      attempt: object.attempt, segment: file.segment, stream: manifest.stream, complete: file.complete)
  }
}
