internal import Codecs
internal import MediaWorker

/// Why composing ends when something is not decoded.
enum DecodingFailure {
  /// Returns the failure if there is no process that decodes. Nil for what is damaged, and for a user whose bytes have ended the process
  /// again and again: they miss what is not decoded, and the others are composed.
  ///
  /// - Parameters:
  ///   - worker: the one that was to decode; nil if none is needed.
  ///   - isCrash: whether its process has ended now.
  static func reason(_ error: CodecError, in worker: MediaWorker?, isCrash: Bool) -> ComposerFailure? {
    guard error.isUnavailable, !isCrash, let worker, worker.canContinue else { return nil }
    let reason = error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason
    return .worker("Nothing can be decoded: \(reason).")
  }
}
