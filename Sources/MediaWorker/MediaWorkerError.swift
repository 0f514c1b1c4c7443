/// Why a worker did not do what was asked.
package enum MediaWorkerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing is known of the media: there is no worker, or the machine gave it no time. A clause.
  case unavailable(String)
  /// The worker has ended; the next request has another one. A clause, for example `was ended by signal 11 (SIGSEGV)`.
  case ended(String)
  /// The worker goes on; the media is broken. FFmpeg's reason, printable.
  case refused(String)

  package var description: String {
    switch self {
    case .unavailable(let reason): reason
    case .ended(let reason): "the process of chatbot-media \(reason)"
    case .refused(let reason): reason
    }
  }
}
