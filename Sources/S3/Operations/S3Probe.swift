internal import Logging
internal import Media
internal import ObjectStore

/// Finds out what a store allows and supports, by a small object that is deleted at the end.
struct S3Probe: Sendable {
  let uploader: S3Uploader
  let caller: S3Caller

  private static let patience = Duration.seconds(20)

  // MARK: Leftovers

  /// The folder of the objects of tests, below the prefix of the store.
  static let folder = "chatbot-probe"
  /// After which time an object is of no test that still goes on, in milliseconds: clocks that sign requests are right to 15 minutes.
  private static let maximumAge: Int64 = 3_600_000
  /// How many objects are removed at once.
  private static let maximumRemovals = 100

  /// Returns the name of the object of a test that begins at this time.
  static func name(at time: UTCTime) -> String {
    "\(time.milliseconds)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
  }

  /// Whether the object of this name was left behind. Names without a time are those of versions before.
  static func isLeftover(_ name: String, at now: UTCTime) -> Bool {
    guard let end = name.utf8.firstIndex(of: UInt8(ascii: "-")), let time = Int64(name[..<end]) else { return true }
    return now.milliseconds - time > maximumAge
  }

  /// Removes what tests have left behind that were ended. What cannot be removed is no fault of the store.
  ///
  /// - Parameter prefix: of the objects of tests, in the bucket, with a slash at its end.
  /// - Throws: `CancellationError`.
  func removeLeftovers(below prefix: String, at now: UTCTime) async throws {
    do {
      var removals = Self.maximumRemovals
      var token: String?
      repeat {
        let answer = try await caller.perform(.list(prefix: prefix, after: token), patience: Self.patience)
        guard let page = KeysPage(parsing: answer.body), page.next == nil || page.next != token else { return }
        for found in page.keys {
          guard let key = found.ascii, key.utf8.starts(with: prefix.utf8),
            Self.isLeftover(String(key.dropFirst(prefix.utf8.count)), at: now)
          else { continue }
          guard removals > 0 else { return }
          removals -= 1
          _ = try await caller.perform(.delete(key), patience: Self.patience)
        }
        token = page.next
      } while token != nil
    } catch let failure as S3Failure {
      uploader.logger.warning("Objects of former tests stay below \(prefix): \(failure.description)")
    }
  }

  /// - Parameter key: one that nobody else uses, in the bucket.
  /// - Throws: an ``S3Failure``, an `ObjectStoreError` or `CancellationError`.
  func run(_ key: String, _ bytes: [UInt8]) async throws {
    let object = StoredObject(bytes: Int64(bytes.count), sha256: ObjectDigest.hex(of: bytes))
    // Without the right to list, a store hides what is missing behind 403.
    guard try await uploader.head(key, patience: Self.patience) == nil else {
      throw ObjectStoreError(.exists, "The object \(key) exists.")
    }
    try await uploader.put(.bytes(bytes), object, at: key, patience: Self.patience)
    do {
      try await check(key, bytes, object)
    } catch {
      _ = try? await caller.perform(.delete(key), patience: .zero)
      throw error
    }
    _ = try await caller.perform(.delete(key), patience: Self.patience)
  }

  private func check(_ key: String, _ bytes: [UInt8], _ object: StoredObject) async throws {
    guard let found = try await uploader.head(key, patience: Self.patience), found.sha256 == object.sha256 else {
      throw S3Failure(
        .refused, "The store does not keep the metadata \(S3Operation.Attributes.digestHeader) of objects.")
    }
    let read = try await caller.perform(.get(key, 0..<object.bytes), patience: Self.patience)
    guard read.body == bytes else { throw S3Failure(.failed, "The store returns other bytes than were stored.") }
    let listed = try await caller.perform(.list(prefix: key, after: nil), patience: Self.patience)
    guard KeysPage(parsing: listed.body) != nil else { throw S3Failure(.failed, "The store gave no list of keys.") }

    let attributes = S3Operation.Attributes(sha256: object.sha256, encryption: uploader.encryption)
    if uploader.conditions[.put] != .unsupported {
      let isSupported = try await isRefused {
        _ = try await caller.perform(
          .put(key, .bytes(bytes), digest: object.sha256, attributes, isConditional: true, pacer: nil),
          patience: Self.patience)
      }
      uploader.conditions.set(isSupported ? .supported : .unsupported, for: .put)
    }
    let created = try await caller.perform(.createUpload(key, attributes), patience: Self.patience)
    guard let upload = StartedUpload(parsing: created.body) else {
      throw S3Failure(.failed, "The store began an upload without an id.")
    }
    do {
      try await check(upload, key, bytes, object)
    } catch {
      _ = try? await caller.perform(.abortUpload(key, upload.uploadID), patience: .zero)
      throw error
    }
  }

  private func check(_ upload: StartedUpload, _ key: String, _ bytes: [UInt8], _ object: StoredObject) async throws {
    let part = try await caller.perform(
      .uploadPart(key, upload.uploadID, number: 1, .bytes(bytes), digest: object.sha256, pacer: nil),
      patience: Self.patience)
    _ = try await caller.perform(.listParts(key, upload.uploadID, after: nil), patience: Self.patience)
    guard let tag = part.header("etag") else { throw S3Failure(.failed, "The store took a part without a tag.") }
    let parts = [UploadedPart(number: 1, tag: tag, bytes: object.bytes)]
    let isSupported = try await isRefused {
      try await uploader.complete(upload.uploadID, parts, key, patience: Self.patience)
    }
    if uploader.conditions[.complete] != .unsupported {
      uploader.conditions.set(isSupported ? .supported : .unsupported, for: .complete)
    }
    if isSupported {
      _ = try await caller.perform(.abortUpload(key, upload.uploadID), patience: Self.patience)
    }
  }

  /// Whether the store answers that the object exists.
  private func isRefused(_ write: () async throws -> Void) async throws -> Bool {
    do {
      try await write()
      return false
    } catch let failure as S3Failure where failure.consequence == .exists {
      return true
    } catch let failure as S3Failure where failure.consequence == .unsupported {
      return false
    }
  }
}
