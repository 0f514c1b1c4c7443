internal import Media
package import Recorder

/// A program to run for a recording or one of its files: its words and what it learns. Pure.
package struct ProgramJob: Sendable, Hashable {
  /// The program and its arguments; the last one is the path of the manifest.
  package var words: [String]
  /// The variables that it gets beside those of this process.
  package var variables: [String: String]
  /// The path of the manifest.
  package var manifest: String

  /// The beginning of the names of the variables of our options. They would be those of a `chatbot` that the program runs, and
  /// some have secrets, so none is inherited.
  package static let optionPrefix = "CHATBOT_"
  /// The beginning of the names of the variables of a job.
  package static let prefix = "RECORDING_"
  /// All variables of jobs without their prefix. None is inherited, since a job need not have all of them.
  private static let names: Set<String> = [
    "EVENT", "MANIFEST", "FILE", "KIND", "ROOM", "USER", "NAME", "STREAM", "START", "DURATION", "BYTES", "FILES",
    "PROBLEMS", "END_REASON", "SEGMENT", "OFFSET",
  ]
  private static let maximumText = 200

  /// The program to run for a finished recording; nil if it has no file, or if the disk did not accept all of it.
  package init?(_ command: [String], finished summary: RecordingSummary, room: String) {
    let manifest = summary.manifest
    guard manifest.finished, let file = manifest.files.first(where: \.hasVideo) ?? manifest.files.first
    else { return nil }
    self.init(
      command, event: "finish", folder: summary.folder, base: summary.base, room: room,
      user: summary.participant.text, name: manifest.name, stream: summary.stream, file: file)
    set("START", manifest.start)
    set("DURATION", Self.seconds(manifest.duration))
    set("FILES", "\(manifest.files.count)")
    set("BYTES", "\(manifest.files.reduce(0) { $0 &+ $1.bytes })")
    set("PROBLEMS", "\(manifest.problems.count)")
    if let reason = manifest.endReason { set("END_REASON", reason.rawValue) }
  }

  /// The program to run for a finished file of a recording with segments.
  package init(_ command: [String], finished segment: RecordedSegment, room: String) {
    self.init(
      command, event: "segment", folder: segment.folder, base: segment.base, room: room,
      user: segment.participant.text, name: segment.name, stream: segment.stream, file: segment.file)
    set("START", segment.recordingStart)
    set("OFFSET", Self.seconds(segment.file.start))
    set("DURATION", Self.seconds(segment.file.duration))
    set("BYTES", "\(segment.file.bytes)")
    if let number = segment.file.segment { set("SEGMENT", "\(number)") }
  }

  private init(
    _ command: [String], event: String, folder: String, base: String, room: String, user: String, name: String?,
    stream: Int, file: RecordingManifest.File
  ) {
    let stem = Self.stem(of: folder)
    manifest = "\(stem)\(base).json"
    words = command + [manifest]
    variables = [:]
    set("EVENT", event)
    set("MANIFEST", manifest)
    set("FILE", stem + file.name)
    set("KIND", file.kind)
    set("ROOM", room.printable(utf8Bytes: Self.maximumText))
    set("USER", user.printable(utf8Bytes: Self.maximumText))
    set("STREAM", "\(stream)")
    if let name { set("NAME", name.printable(utf8Bytes: Self.maximumText)) }
  }

  private mutating func set(_ name: String, _ value: String) { variables[Self.prefix + name] = value }

  /// The folder with a slash. A name that begins with a minus would be an option for the program.
  private static func stem(of folder: String) -> String {
    (folder.hasPrefix("-") ? "./" : "") + (folder.hasSuffix("/") ? folder : folder + "/")
  }

  private static func seconds(_ value: Double) -> String {
    let milliseconds = Int64(exactly: (max(0, min(value, 1e12)) * 1_000).rounded()) ?? 0
    let rest = "\(milliseconds % 1_000)"
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }

  /// The value of a variable of the job; empty if it has none.
  ///
  /// - Parameter name: without the prefix.
  package func value(_ name: String) -> String { variables[Self.prefix + name] ?? "" }

  /// The environment of the program: that of this process without the variables of our options and those of another job, and
  /// the variables of the job.
  package func environment(inherited: [String: String]) -> [String: String] {
    inherited.filter { !Self.isOurs($0.key) }.merging(variables) { $1 }
  }

  private static func isOurs(_ name: String) -> Bool {
    name.hasPrefix(optionPrefix) || name.hasPrefix(prefix) && names.contains(String(name.dropFirst(prefix.count)))
  }
}
