internal import Logging
internal import Media
internal import NIOCore
internal import Signalling
import Synchronization

/// Parses documents and logs the unusable ones, each version once and all at a limited rate.
final class FirestoreSessionLog: Sendable {
  private let logger: Logger
  private let state: Mutex<State>

  private struct State {
    var limiter: LogRateLimiter
    /// The versions that were logged, because a poll reads them again and again.
    var known: Set<FirestoreDocument.Version> = []
  }

  init(logger: Logger) {
    self.logger = logger
    state = Mutex(State(limiter: LogRateLimiter(perSecond: 1, burst: 20)))
  }

  func parsed(_ document: FirestoreDocument) -> Snapshot.Description {
    do throws(StoredDescription.ParseError) {
      return .present(try StoredDescription(parsing: document))
    } catch {
      warn(error.description, about: document)
      return .unusable
    }
  }

  func parsedCandidate(_ document: FirestoreDocument) -> StoredCandidate? {
    do throws(StoredCandidate.ParseError) {
      return try StoredCandidate(parsing: document)
    } catch {
      warn(error.description, about: document)
      return nil
    }
  }

  func ignored(_ reason: String) { logger.debug("\(reason)") }

  func note(_ sentence: String) { logger.info("\(sentence)") }

  private func warn(_ sentence: String, about document: FirestoreDocument) {
    let suppressedCount = state.withLock { state -> Int? in
      if state.known.count >= 256 { state.known = [] }
      guard state.known.insert(document.version).inserted else { return nil }
      return state.limiter.consume(now: .now)
    }
    guard let suppressedCount else { return }
    logger.warning(
      "A document is ignored. \(sentence)",
      metadata: suppressedCount > 0 ? ["others ignored since the last warning": "\(suppressedCount)"] : nil)
  }
}

extension FirestoreDocument {
  fileprivate struct Version: Hashable {
    let path: DocumentPath
    let updateTime: FirestoreTimestamp
  }

  fileprivate var version: Version { Version(path: path, updateTime: updateTime) }
}
