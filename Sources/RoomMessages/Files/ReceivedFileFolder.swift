package import DataMessages
import FoundationEssentials
import Glibc
package import Media

/// The folder of received files. Files are created exclusively, so none is overwritten, and links are not followed.
///
/// `received.jsonl` in it has one line for each transfer: its time, the user, the announced name, the file, its size, its
/// SHA-256, whether it is complete and if not why. It is created before any file, and nothing is ever appended to a file that
/// exists: if there is one of an earlier call, ours has a number. No received file has such a name (``FileName``).
package actor ReceivedFileFolder {
  /// How many names are tried.
  private static let maximumNumber = 10_000

  private let path: String
  private let folder: Int32
  private let logName: String
  private let log: Int32
  private var isLogEmpty = true

  /// Opens the folder; creates it if missing.
  ///
  /// - Parameter recordings: the folder of the recordings, which must be another one: the names of users' files must not meet
  ///   those of recordings.
  package init(_ path: String, recordings: String? = nil) throws(FileTransferError) {
    self.path = path
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw FileTransferError("created", path)
    }
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { throw FileTransferError("opened", path) }
    self.folder = folder
    if let recordings, Self.isSame(folder, recordings) {
      close(folder)
      throw FileTransferError(
        "The files of users and the recordings need folders of their own, but both are \(path.printable()).",
        .sharedFolder)
    }
    do {
      (logName, log) = try Self.createLog(in: folder, path: path)
    } catch {
      close(folder)
      throw error
    }
  }

  deinit {
    if isLogEmpty { unlinkat(folder, logName, 0) }
    close(log)
    close(folder)
  }

  private static func isSame(_ folder: Int32, _ path: String) -> Bool {
    var (one, other) = (stat(), stat())
    return fstat(folder, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev
      && one.st_ino == other.st_ino
  }

  private static func createLog(in folder: Int32, path: String) throws(FileTransferError) -> (String, Int32) {
    for number in 1...maximumNumber {
      let name = FileName.log(number)
      let flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let descriptor = openat(folder, name, flags, 0o600)
      if descriptor >= 0 { return (name, descriptor) }
      guard errno == EEXIST else { throw FileTransferError("created", "\(path)/\(name)") }
    }
    throw FileTransferError("\(path.printable()) has \(maximumNumber) logs of received files.")
  }

  /// Creates a file, and reserves its space where the file system can.
  package func create(_ name: FileName, size: Int64) throws(FileTransferError) -> ReceivedFile {
    for number in 1...Self.maximumNumber {
      let numbered = name.numbered(number)
      var status = stat()
      if fstatat(folder, numbered.description, &status, AT_SYMLINK_NOFOLLOW) == 0 { continue }
      let part = numbered.description + FileName.partExtension
      let descriptor = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw FileTransferError("created", "\(path)/\(part)") }
      return ReceivedFile(name: numbered, size: size, wanted: name, part: part, descriptor: descriptor)
    }
    throw FileTransferError("\(path) has \(Self.maximumNumber) files with the name \(name.description.printable()).")
  }

  /// Gives a complete file its name.
  ///
  /// - Returns: the name, which has a number if a file of that name has appeared meanwhile.
  package func complete(
    _ file: ReceivedFile, of user: ParticipantID, sha256: String
  ) throws(FileTransferError) -> String {
    for number in 0...Self.maximumNumber {
      let name = number == 0 ? file.name : file.wanted.numbered(number).description
      if linkat(folder, file.part, folder, name, 0) == 0 {
        unlinkat(folder, file.part, 0)
        try note(file, name, of: user, bytes: file.written, sha256: sha256, problem: nil)
        return name
      }
      guard errno == EEXIST else { throw FileTransferError("renamed", "\(path)/\(file.part)") }
    }
    throw FileTransferError("\(path) has \(Self.maximumNumber) files with the name \(file.name.printable()).")
  }

  /// Notes a transfer that broke off; its beginning stays in the `.part`.
  func broke(_ file: ReceivedFile, of user: ParticipantID, because reason: String, bytes: Int64, sha256: String) {
    try? note(file, file.part, of: user, bytes: bytes, sha256: sha256, problem: reason)
  }

  private struct Entry: Encodable {
    var date: String
    var user: String
    var announced: String
    var file: String
    var bytes: Int64
    var sha256: String
    var complete: Bool
    var problem: String?
  }

  private func note(
    _ file: ReceivedFile, _ name: String, of user: ParticipantID, bytes: Int64, sha256: String, problem: String?
  ) throws(FileTransferError) {
    let entry = Entry(
      date: Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), user: user.text,
      announced: file.wanted.description, file: name, bytes: bytes, sha256: sha256, complete: problem == nil,
      problem: problem)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let json = try? encoder.encode(entry) else { return }
    let line = String(decoding: json, as: UTF8.self).escapingInvisibleInJSON + "\n"
    isLogEmpty = false
    try AppendedText.append(Data(line.utf8), to: log, "\(path)/\(logName)")
  }
}
