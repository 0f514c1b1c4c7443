internal import Glibc
internal import MediaWorker

/// Why an output or a part of it was not written, as a sentence.
package struct OutputFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// The disk has no room, or refuses: exit code 73.
    case disk
    /// There is a file or a folder that must not be overwritten: `--force` does.
    case exists
    /// Another process writes the same output.
    case busy
    /// Parts are damaged.
    case damaged
    /// The program `chatbot-media` is missing or failed.
    case worker
  }

  package let kind: Kind
  package let sentence: String

  package init(_ kind: Kind, _ sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }

  package var description: String { sentence }

  /// - Parameter number: of an error of the system.
  static func disk(_ path: String, _ number: Int32) -> OutputFailure {
    OutputFailure(.disk, "“\(path)” cannot be written: \(String(cString: strerror(number))).")
  }

  init(_ error: MediaWorkerError, writing path: String) {
    switch error {
    case .unavailable(let reason): self.init(.worker, reason.hasSuffix(".") ? reason : "\(reason).")
    case .ended(let reason): self.init(.worker, "The process that writes “\(path)” \(reason).")
    case .refused(let reason): self.init(.disk, "“\(path)” cannot be written: \(reason).")
    }
  }
}
