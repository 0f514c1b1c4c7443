internal import Composition
internal import FoundationEssentials
internal import Media

/// A signal that ended a composition: what is kept of it, as a sentence.
package struct CompositionInterruption: Error, Sendable, Hashable, CustomStringConvertible {
  package let signal: Int32
  package let description: String

  /// Looks for the parts that are finished.
  package init(_ job: CompositionJob, signal: Int32) {
    self.signal = signal
    let folder = job.options.output + ".parts"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let kept = names.filter { $0.utf8.starts(with: "video-".utf8) && $0.hasSuffix(".part") }.count
    let name = folder.printable()
    description =
      switch kept {
      case 0: "Interrupted: no part was finished. The same command begins again."
      case 1: "Interrupted: one part is kept in “\(name)”, and the same command continues after it."
      default: "Interrupted: \(kept) parts are kept in “\(name)”, and the same command continues after them."
      }
  }
}
