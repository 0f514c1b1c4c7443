internal import FoundationEssentials
internal import Glibc
internal import MediaWorker

/// A file that appears under its name when it is complete. Until then it has another name.
final class OutputFile {
  let descriptor: Int32
  private let path: String
  private let temporary: String
  private let overwrites: Bool
  private var isComplete = false

  /// - Parameters:
  ///   - temporary: its name until then, on the same file system; nil for one beside it. A file of that name is overwritten.
  ///   - overwrites: whether it may replace a file.
  init(_ path: String, temporary: String? = nil, overwrites: Bool) throws(ComposerFailure) {
    self.path = path
    self.overwrites = overwrites
    guard overwrites || access(path, F_OK) != 0 else { throw Self.existing(path) }
    self.temporary = temporary ?? "\(path).\(getpid()).part"
    if temporary != nil { unlink(self.temporary) } else { Self.removeLeftovers(of: path) }
    descriptor = open(self.temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .output("“\(path)” cannot be written: \(Self.reason(errno)).") }
    // The lock says that somebody writes it. A file system without locks has leftovers.
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if !isComplete { unlink(temporary) }
  }

  /// Removes the unfinished files of this name that processes have left that were killed.
  private static func removeLeftovers(of path: String) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = end.map { String(path[...$0]) } ?? ""
    let start = Array(path[(end.map { path.utf8.index(after: $0) } ?? path.startIndex)...].utf8) + Array(".".utf8)
    let suffix = Array(".part".utf8)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    for name in names {
      let bytes = Array(name.utf8)
      let number = bytes.dropFirst(start.count).dropLast(suffix.count)
      guard bytes.starts(with: start), bytes.reversed().starts(with: suffix.reversed()), !number.isEmpty,
        number.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { continue }
      let file = open(folder + name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { continue }
      // Who writes it has locked it.
      if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(folder + name) }
      close(file)
    }
  }

  /// Gives it its name.
  func complete() throws(ComposerFailure) {
    guard fsync(descriptor) == 0 else { throw .output("“\(path)” cannot be written: \(Self.reason(errno)).") }
    // A link never replaces a file that somebody has made meanwhile; some file systems have none.
    if !overwrites, link(temporary, path) == 0 {
      unlink(temporary)
    } else if !overwrites, access(path, F_OK) == 0 {
      throw Self.existing(path)
    } else if rename(temporary, path) != 0 {
      throw .output("“\(path)” cannot be written: \(Self.reason(errno)).")
    }
    isComplete = true
  }

  private static func existing(_ path: String) -> ComposerFailure {
    .output("“\(path)” is there already; --force overwrites it.")
  }

  static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }

  /// The failure that an error means which came while a file was written.
  static func failure(_ error: any Error, writing path: String) -> ComposerFailure {
    switch error {
    case let failure as ComposerFailure: failure
    case let error as MediaWorkerError where error.isFullDisk:
      .output("“\(path)” cannot be written: the disk is full. When there is room, the same command goes on.")
    case MediaWorkerError.unavailable(let reason): .worker(reason.hasSuffix(".") ? reason : "\(reason).")
    case MediaWorkerError.ended(let reason): .worker("The process that writes “\(path)” \(reason).")
    default: .output("“\(path)” cannot be written: \(error).")
    }
  }
}
