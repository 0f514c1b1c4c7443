package import Composition
internal import FoundationEssentials
internal import Glibc
internal import Inspection
internal import Media

/// The composition of one call into one file: what the command line asks for, found and planned.
package struct CompositionJob: Sendable {
  package let call: FoundCall
  package let plan: CompositionPlan
  /// With the paths of the output and the report of this call.
  package let options: CompositionOptions

  /// Plans the composition of a call.
  ///
  /// - Parameter problems: what is known to be missing already, a sentence each.
  /// - Throws: why the call is not composed.
  init(_ call: FoundCall, for options: CompositionOptions, problems: [String]) throws(CompositionError) {
    var own = options
    if options.calls == .all {
      own.output = Self.numbered(options.output, call.number)
      own.report = options.report.map { Self.numbered($0, call.number) }
    }
    plan = try CompositionPlan(of: call, options: own, problems: problems)
    (self.call, self.options) = (call, own)
  }

  /// Adds the number of a call to the name of a file: `meeting.mp4` becomes `meeting-2.mp4`.
  package static func numbered(_ path: String, _ number: Int) -> String {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    let name = path[start...]
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
      return "\(path)-\(number)"
    }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  /// Checks that the output may be written, before the work begins.
  package func checkOutput() throws(ComposerFailure) {
    let path = options.output
    guard let identity = FileIdentity(path) else {
      let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      guard access(folder, W_OK) == 0 else {
        throw .output("“\(path.printable())” cannot be written: \(String(cString: strerror(errno))).")
      }
      return
    }
    let inputs = call.recordings.flatMap { found in
      found.recording.files.map(\.path) + [found.recording.manifest?.path].compactMap(\.self)
    }
    if inputs.contains(where: { FileIdentity($0) == identity }) {
      throw .usage("“\(path.printable())” is a file of the recordings; choose another name for the output.")
    }
    if !options.isForced {
      throw .output("“\(path.printable())” exists already; --force overwrites it.")
    }
  }
}

/// Which file a path leads to.
private struct FileIdentity: Equatable {
  let device: UInt64
  let number: UInt64

  /// Nil if there is no file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
  }
}
