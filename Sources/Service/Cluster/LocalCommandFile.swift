internal import FoundationEssentials
internal import Glibc
internal import JSON
package import JobProtocol
internal import Media

/// A command that a node carried out while it could not reach the database.
package struct LocalCommand: Sendable, Hashable, Codable {
  /// Below -1; each smaller than the one before it.
  package var number: Int64
  package var job: String
  /// The newest attempt of the job that the node knew; empty before the first one.
  package var attempt: String
  /// `stop`, `pause` or `resume`.
  package var kind: String
  /// Nil: all users.
  package var users: [String]?
  /// Who is paused since; nil until that is decided, and for a stop.
  package var paused: PauseState?
  /// Of a command of the database whose pause could not be written there: the number of that write. Nil for a local command.
  package var note: UInt64?

  package init(number: Int64, job: String, attempt: String, kind: String, users: [String]?) {
    self.number = number
    self.job = job
    self.attempt = attempt
    self.kind = kind
    self.users = users
  }
}

/// The commands that a node carried out without the database and has not noted there yet: a file with a JSON object in each line.
/// Its calls block while they write.
package struct LocalCommandFile: Sendable {
  private let folder: String
  private let path: String

  /// The most bytes that are read.
  private static let maximumBytes = 16 << 20
  private static let maximumLine = 1 << 20

  package init(data: String) {
    folder = data
    path = "\(data)/local-commands.ndjson"
  }

  /// Reads the commands, in their order. A line that is no command is left out: the disk was full, or the machine lost its power.
  package func read() -> [LocalCommand] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while bytes.count < Self.maximumBytes {
      let count = Glibc.read(file, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    let limits = JSONLimits(bytes: Self.maximumLine, values: 10_000, depth: 8)
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      try? JSONReader.decode(LocalCommand.self, from: Data(line), within: limits)
    }
  }

  /// Replaces the commands. Afterwards they are on the disk.
  ///
  /// - Returns: whether they could be written.
  package func write(_ commands: [LocalCommand]) -> Bool {
    if commands.isEmpty { return unlink(path) == 0 ? synchronizeFolder() : errno == ENOENT }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var text: [UInt8] = []
    for command in commands {
      guard let line = try? encoder.encode(command) else { return false }
      text += line
      text.append(UInt8(ascii: "\n"))
    }
    let draft = "\(path).new"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    var rest = text[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return fsync(file) == 0 && rename(draft, path) == 0 && synchronizeFolder()
  }

  /// Without it, a machine that loses its power may come back with the file of before.
  private func synchronizeFolder() -> Bool {
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { return false }
    defer { close(opened) }
    return fsync(opened) == 0 || errno == EINVAL || errno == ENOTSUP
  }
}
