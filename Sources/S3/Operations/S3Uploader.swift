internal import Logging
internal import Media
internal import ObjectStore

/// Stores objects, and never overwrites one.
struct S3Uploader: Sendable {
  let caller: S3Caller
  let ledger: any ObjectUploadLedger
  let conditions: ConditionalWrites
  let encryption: S3Configuration.ServerSideEncryption?
  let pacer: UploadPacer?
  let logger: Logger

  /// The parts of a file that are sent at a time.
  static let maximumPartsAtOnce = 3
  /// How often an upload in parts begins again, because the store has lost it.
  private static let maximumRestarts = 5
  /// How often an object that was stored is looked for.
  private static let maximumLooks = 6

  /// What the store says of an object.
  struct Found: Sendable, Hashable {
    var bytes: Int64
    /// Nil if another program stored it.
    var sha256: String?
  }

  private func attributes(_ object: StoredObject) -> S3Operation.Attributes {
    S3Operation.Attributes(sha256: object.sha256, encryption: encryption)
  }

  // MARK: At once

  /// Sends an object in one request.
  ///
  /// - Parameters:
  ///   - key: in the bucket.
  ///   - patience: how long it is tried; nil for ever.
  /// - Throws: an ``S3Failure``, an `ObjectStoreError` or `CancellationError`.
  func put(_ body: S3Request.Body, _ object: StoredObject, at key: String, patience: Duration? = nil) async throws {
    var backoff = Backoff()
    for _ in 0..<Self.maximumRestarts {
      let support = conditions[.put]
      if support != .supported, let found = try await head(key, patience: patience) {
        return try confirm(found, object, key)
      }
      do {
        _ = try await caller.perform(
          .put(
            key, body, digest: object.sha256, attributes(object), isConditional: support != .unsupported, pacer: pacer),
          patience: patience
        ) {
          guard try await head(key, patience: patience) == nil else { throw S3Failure(.exists, "\(key) exists.") }
        }
        return try await verify(key, object, patience: patience)
      } catch let failure as S3Failure where failure.consequence == .exists {
        if let found = try await head(key, patience: patience) { return try confirm(found, object, key) }
        // It was deleted in between.
        try await caller.pause(&backoff)
      } catch let failure as S3Failure where failure.consequence == .unsupported && support != .unsupported {
        conditions.set(.unsupported, for: .put)
      }
    }
    throw ObjectStoreError(.storage, "\(key) exists at one moment and not at the next.")
  }

  /// Returns what the store has; nil if there is no such object.
  func head(_ key: String, patience: Duration?) async throws -> Found? {
    do {
      let response = try await caller.perform(.head(key), patience: patience)
      guard let bytes = response.header("content-length").flatMap({ Int64($0) }), bytes >= 0 else {
        throw S3Failure(.failed, "The store does not say the size of \(key).")
      }
      return Found(bytes: bytes, sha256: response.header(S3Operation.Attributes.digestHeader))
    } catch let failure as S3Failure where failure.consequence == .missing {
      return nil
    }
  }

  /// Confirms that an object that exists is the one that was to be stored.
  private func confirm(_ found: Found, _ object: StoredObject, _ key: String) throws {
    guard found.bytes == object.bytes, found.sha256 == object.sha256 else {
      throw ObjectStoreError(.exists, "The object \(key) exists and has another content.")
    }
  }

  /// Confirms that an object is whole after it was stored.
  private func verify(_ key: String, _ object: StoredObject, patience: Duration?) async throws {
    var backoff = Backoff()
    for _ in 0..<Self.maximumLooks {
      if let found = try await head(key, patience: patience) {
        guard found.bytes == object.bytes, found.sha256 == nil || found.sha256 == object.sha256 else {
          throw ObjectStoreError(
            .exists, "The object \(key) has \(found.bytes) bytes after \(object.bytes) were stored, or another content."
          )
        }
        return
      }
      // Some stores show an object a moment later.
      try await caller.pause(&backoff)
    }
    throw ObjectStoreError(.storage, "The object \(key) was stored, and the store does not find it.")
  }

  // MARK: In parts

  /// Sends a file in parts. What was sent before, and is noted in the ledger, is not sent again.
  ///
  /// - Parameter noteKey: the key in the ledger.
  func putInParts(_ file: SourceFile, _ plan: UploadPlan, at key: String, noteKey: ObjectKey) async throws {
    if let found = try await head(key, patience: nil) {
      try await forget(noteKey, key, plan: nil)
      return try confirm(found, plan.object, key)
    }
    for _ in 0..<Self.maximumRestarts {
      let upload = try await resume(plan, key, noteKey)
      do {
        let parts = try await send(file, plan, upload, key)
        if conditions[.complete] != .supported, let found = try await head(key, patience: nil) {
          try await forget(noteKey, key, plan: nil)
          return try confirm(found, plan.object, key)
        }
        try await complete(upload.id, parts, key)
        await remove(noteKey)
        return try await verify(key, plan.object, patience: nil)
      } catch let failure as S3Failure where failure.consequence == .exists {
        try await forget(noteKey, key, plan: nil)
        guard let found = try await head(key, patience: nil) else { continue }
        return try confirm(found, plan.object, key)
      } catch let failure as S3Failure where failure.consequence == .uploadGone {
        // It may have ended, and the answer was lost.
        await remove(noteKey)
        if let found = try await head(key, patience: nil) { return try confirm(found, plan.object, key) }
        logger.warning("The store has lost the upload of \(key), which begins again.")
      } catch let failure as S3Failure where Self.lostParts.contains(failure.code) {
        try await forget(noteKey, key, plan: nil)
        logger.warning("The store has lost parts of \(key), which begins again: \(failure.description)")
      }
    }
    throw ObjectStoreError(.storage, "The store loses uploads of \(key).")
  }

  /// Answers to an end with parts that the store does not have.
  private static let lostParts: Set = ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"]

  private struct Upload: Sendable {
    var id: String
    var parts: [Int: UploadedPart] = [:]
  }

  /// Goes on with an upload that is noted, or begins one.
  private func resume(_ plan: UploadPlan, _ key: String, _ noteKey: ObjectKey) async throws -> Upload {
    if let upload = try await noted(plan, key, noteKey) { return upload }
    let response = try await caller.perform(.createUpload(key, attributes(plan.object)), patience: nil)
    guard let started = StartedUpload(parsing: response.body) else {
      throw S3Failure(.failed, "The store began an upload of \(key) without an id.")
    }
    let note = NotedUpload(sha256: plan.object.sha256, partBytes: plan.partBytes, uploadID: started.uploadID)
    do {
      try await ledger.set(note.text, for: noteKey)
    } catch {
      try Task.checkCancellation()
      // Only time is lost if it must begin again.
      logger.warning("The upload of \(key) cannot be noted: \(String(describing: error).printable(utf8Bytes: 300))")
    }
    return Upload(id: started.uploadID)
  }

  private func noted(_ plan: UploadPlan, _ key: String, _ noteKey: ObjectKey) async throws -> Upload? {
    guard let text = try? await ledger.uploadID(of: noteKey), let note = NotedUpload(text) else { return nil }
    guard note.sha256 == plan.object.sha256, note.partBytes == plan.partBytes else {
      try await forget(noteKey, key, plan: note)
      return nil
    }
    var upload = Upload(id: note.uploadID)
    var marker: Int?
    repeat {
      let response: S3Response
      do {
        response = try await caller.perform(.listParts(key, note.uploadID, after: marker), patience: nil)
      } catch let failure as S3Failure where failure.consequence == .uploadGone || failure.consequence == .missing {
        await remove(noteKey)
        return nil
      }
      guard let page = PartsPage(parsing: response.body), page.next ?? .max > marker ?? 0 else {
        throw S3Failure(.failed, "The store gave no list of the parts of \(key).")
      }
      for part in page.parts { upload.parts[part.number] = part }
      marker = page.next
    } while marker != nil
    return upload
  }

  /// Forgets an upload, and tells the store to delete its parts.
  ///
  /// - Parameter note: what the ledger has; nil to look there.
  func forget(_ noteKey: ObjectKey, _ key: String, plan note: NotedUpload?) async throws {
    var note = note
    if note == nil, let text = try? await ledger.uploadID(of: noteKey) { note = NotedUpload(text) }
    guard let note else { return }
    do {
      _ = try await caller.perform(.abortUpload(key, note.uploadID), patience: .seconds(10))
    } catch let failure as S3Failure {
      logger.warning("The parts of \(key) are left in the store: \(failure.description)")
    }
    await remove(noteKey)
  }

  private func remove(_ noteKey: ObjectKey) async {
    do {
      try await ledger.remove(noteKey)
    } catch {
      logger.debug("The end of the upload of \(noteKey) cannot be noted.")
    }
  }

  /// Sends the parts that are missing.
  private func send(_ file: SourceFile, _ plan: UploadPlan, _ upload: Upload, _ key: String) async throws
    -> [UploadedPart]
  {
    var done: [UploadedPart] = []
    var missing: [UploadPlan.Part] = []
    for part in plan.parts {
      if let sent = upload.parts[part.number], sent.bytes == part.range.upperBound - part.range.lowerBound {
        done.append(sent)
      } else {
        missing.append(part)
      }
    }
    try await withThrowingTaskGroup(of: UploadedPart.self) { group in
      var rest = missing[...]
      func add() {
        guard let part = rest.popFirst() else { return }
        group.addTask { try await send(part, of: file, upload.id, key) }
      }
      for _ in 0..<Self.maximumPartsAtOnce { add() }
      while let sent = try await group.next() {
        done.append(sent)
        add()
      }
    }
    return done.sorted { $0.number < $1.number }
  }

  private func send(_ part: UploadPlan.Part, of file: SourceFile, _ id: String, _ key: String) async throws
    -> UploadedPart
  {
    let operation = S3Operation.uploadPart(
      key, id, number: part.number, .file(file, part.range), digest: part.digest, pacer: pacer)
    let response: S3Response
    do {
      response = try await caller.perform(operation, patience: nil) {
        _ = try await caller.perform(.listParts(key, id, after: part.number), patience: nil)
      }
    } catch var failure as S3Failure where failure.consequence == .missing {
      failure.consequence = .uploadGone
      throw failure
    }
    guard let tag = response.header("etag"), UploadedPart.isIdentifier(tag, longest: 200) else {
      throw S3Failure(.failed, "The store took a part of \(key) without a tag.")
    }
    return UploadedPart(number: part.number, tag: tag, bytes: part.range.upperBound - part.range.lowerBound)
  }

  /// Ends an upload. The answer 200 can have an error in its body.
  func complete(_ id: String, _ parts: [UploadedPart], _ key: String, patience: Duration? = nil) async throws {
    var backoff = Backoff()
    var tries = 0
    while true {
      tries += 1
      let support = conditions[.complete]
      let body: [UInt8]
      do {
        body = try await caller.perform(
          .completeUpload(key, id, parts, isConditional: support != .unsupported), patience: patience
        ).body
      } catch let failure as S3Failure where failure.consequence == .unsupported && support != .unsupported {
        conditions.set(.unsupported, for: .complete)
        continue
      } catch var failure as S3Failure where failure.consequence == .missing {
        failure.consequence = .uploadGone
        throw failure
      }
      switch Completion(parsing: body) {
      case .done: return
      case .failed(let error):
        let failure = S3Failure(
          error, operation: "CompleteMultipartUpload", bucket: caller.bucket, region: caller.region)
        guard case .again = failure.consequence, patience == nil || tries < 5 else { throw failure }
      case nil:
        if patience != nil, tries >= 5 { throw S3Failure(.failed, "The store ends an upload without a usable answer.") }
      }
      // Either it has not ended, or the answer was cut: trying again shows which.
      try await caller.pause(&backoff)
    }
  }
}
