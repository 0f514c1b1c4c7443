internal import Glibc
internal import MediaMessages

/// Reads the packets of a part.
final class PartReader {
  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var position = 0
  private var count: UInt64 = 0
  private(set) var isAtEnd = false
  /// What happened while the part was made; known at the end.
  private(set) var notes: [UInt8] = []

  private static let readBytes = 1 << 20

  /// Nil if there is no such part.
  init?(_ path: String) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0, take(PartFormat.start.count).map({ Array($0) == PartFormat.start }) ?? false else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns the next packet; nil at the end.
  ///
  /// - Throws: a failure for a file that was changed or cut off.
  func next() throws(ComposerFailure) -> EncodedPacket? {
    if isAtEnd { return nil }
    guard let prefix = take(PartFormat.prefixBytes) else { throw damaged }
    let length = UInt32(truncatingIfNeeded: PartFormat.number(prefix.prefix(4)))
    let checksum = UInt32(truncatingIfNeeded: PartFormat.number(prefix.dropFirst(4)))
    guard length <= UInt32(PartFormat.maximumBytes), let body = take(Int(length)),
      PartFormat.checksum(body) == checksum, let record = PartFormat.record(body)
    else { throw damaged }
    switch record {
    case .packet(let packet):
      count += 1
      return packet
    case .end(let written, let notes):
      guard written == count else { throw damaged }
      self.notes = Array(notes)
      isAtEnd = true
      return nil
    }
  }

  private var damaged: ComposerFailure {
    .output("“\(path)” is damaged. Remove it, and the same command makes it again.")
  }

  /// Returns the next bytes; nil if the file has no more.
  private func take(_ wanted: Int) -> ArraySlice<UInt8>? {
    while buffer.count - position < wanted {
      if position > 0 {
        buffer.removeSubrange(..<position)
        position = 0
      }
      let before = buffer.count
      buffer += [UInt8](repeating: 0, count: Self.readBytes)
      let read = buffer.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, bytes.baseAddress.map { $0 + before }, Self.readBytes)
      }
      buffer.removeLast(Self.readBytes - max(0, read))
      if read < 0, errno == EINTR { continue }
      if read <= 0 { return nil }
    }
    defer { position += wanted }
    return buffer[position..<position + wanted]
  }

  /// Returns what happened while a part was made; nil unless the part is there and whole.
  static func notes(ofWhole path: String) -> [UInt8]? {
    guard let reader = PartReader(path) else { return nil }
    do throws(ComposerFailure) {
      while try reader.next() != nil {}
      return reader.notes
    } catch {
      return nil
    }
  }
}
