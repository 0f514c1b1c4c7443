import DataMessages
import FoundationEssentials
import Glibc
import Media
import NIOCore
import Synchronization

/// An error of a file that is sent or received; one sentence.
struct FileTransferError: Error, CustomStringConvertible {
  let description: String

  init(_ what: String, _ path: String, errno number: Int32 = errno) {
    description = "\(path.printable()) cannot be \(what): \(String(cString: strerror(number)))."
  }

  init(_ sentence: String) { description = sentence }
}

/// A file that is offered to a user. It is open while it is sent.
final class SentFile: Sendable {
  let name: String
  let size: Int64
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(CallFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      let error = FileTransferError("read", path)
      if descriptor >= 0 { close(descriptor) }
      throw CallFailure(.fileNotPlayable, error.description)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CallFailure(.fileNotPlayable, "\(path.printable()) is not a file, so it cannot be sent.")
    }
    self.path = path
    self.descriptor = descriptor
    name = path.split(separator: "/").last.map(String.init) ?? path
    size = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  /// Returns at most this many bytes from an offset; none at the end.
  func read(at offset: Int64, upTo count: Int) throws(FileTransferError) -> ByteBuffer {
    var buffer = ByteBuffer()
    let result = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      max(0, pread(descriptor, bytes.baseAddress, min(count, bytes.count), off_t(offset)))
    }
    if result == 0, offset < size, errno != 0 { throw FileTransferError("read", path) }
    return buffer
  }
}

/// A file that is being received: `NAME.part` until it is complete.
final class ReceivedFile: Sendable {
  /// The name without `.part`.
  let name: String
  /// The announced size in bytes.
  let size: Int64
  fileprivate let wanted: FileName
  fileprivate let part: String
  private let descriptor: Int32
  private let count = Mutex<Int64>(0)

  /// The number of bytes that were written.
  var written: Int64 { count.withLock(\.self) }

  fileprivate init(name: FileName, size: Int64, wanted: FileName, part: String, descriptor: Int32) {
    self.name = name.description
    self.size = size
    self.wanted = wanted
    self.part = part
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func write(_ bytes: ByteBuffer) throws(FileTransferError) {
    var rest = bytes.readableBytesView[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileTransferError("written", part) }
      self.count.withLock { $0 += Int64(count) }
      rest = rest.dropFirst(count)
    }
  }
}

/// The folder of received files. Files are created exclusively, so none is overwritten, and links are not followed.
///
/// `received.jsonl` in it has one line for each transfer: its time, the user, the announced name, the file, its size, its
/// SHA-256, whether it is complete and if not why. It is created before any file, and nothing is ever appended to a file that
/// exists: if there is one of an earlier call, ours has a number. No received file has such a name (``FileName``).
actor ReceivedFileFolder {
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
  init(_ path: String, recordings: String? = nil) throws(CallFailure) {
    self.path = path
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw CallFailure(.disk, FileTransferError("created", path).description)
    }
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { throw CallFailure(.disk, FileTransferError("opened", path).description) }
    self.folder = folder
    if let recordings, Self.isSame(folder, recordings) {
      close(folder)
      throw CallFailure(
        .usage, "The files of users and the recordings need folders of their own, but both are \(path.printable()).")
    }
    do {
      (logName, log) = try Self.createLog(in: folder, path: path)
    } catch {
      close(folder)
      throw CallFailure(.disk, error.description)
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
  func create(_ name: FileName, size: Int64) throws(FileTransferError) -> ReceivedFile {
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
  func complete(_ file: ReceivedFile, of user: ParticipantID, sha256: String) throws(FileTransferError) -> String {
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

/// Appends whole lines to files, so that a crash leaves only whole ones.
enum AppendedText {
  /// Appends in one write; creates the file if it is missing.
  static func append(
    _ bytes: Data, to name: String, in folder: Int32, path: String, flags: Int32 = 0
  ) throws(FileTransferError) {
    let descriptor = openat(
      folder, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
    guard descriptor >= 0 else { throw FileTransferError("opened", "\(path)/\(name)") }
    defer { close(descriptor) }
    try append(bytes, to: descriptor, "\(path)/\(name)")
  }

  static func append(_ bytes: Data, to descriptor: Int32, _ path: String) throws(FileTransferError) {
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw FileTransferError("written", path) }
  }
}
