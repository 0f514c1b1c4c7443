internal import CChecksums
internal import Glibc
internal import MediaMessages

/// Writes the encoded frames of one part of a composition: each packet with a checksum, and at the end their number and what happened.
///
/// The file has its name only when it is complete and on the disk.
final class PartWriter {
  private let path: String
  private let temporary: String
  private let descriptor: Int32
  private var buffer: [UInt8] = PartFormat.start
  private var count: UInt64 = 0
  private var isComplete = false

  private static let bufferBytes = 1 << 20

  /// Called each second while the disk is full.
  private let whileFull: () -> Void

  init(_ path: String, whileFull: @escaping () -> Void = {}) throws(ComposerFailure) {
    self.path = path
    self.whileFull = whileFull
    temporary = path + ".new"
    descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .output("“\(temporary)” cannot be written: \(OutputFile.reason(errno)).") }
    buffer.reserveCapacity(Self.bufferBytes)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if !isComplete { unlink(temporary) }
  }

  func write(_ packet: EncodedPacket) throws(ComposerFailure) {
    buffer += PartFormat.record(packet)
    count += 1
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// - Parameter notes: what happened while the part was made; it is kept with it.
  func complete(_ notes: [UInt8] = []) throws(ComposerFailure) {
    buffer += PartFormat.end(count: count, notes)
    try flush()
    try FullDisk.waiting("“\(temporary)” cannot be written", whileFull) { fsync(descriptor) }
    guard rename(temporary, path) == 0 else {
      throw .output("“\(path)” cannot be written: \(OutputFile.reason(errno)).")
    }
    isComplete = true
  }

  private func flush() throws(ComposerFailure) {
    var done = 0
    while done < buffer.count {
      let written = try FullDisk.waiting("“\(temporary)” cannot be written", whileFull) {
        buffer.withUnsafeBytes { bytes in
          Int32(clamping: Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done))
        }
      }
      done += Int(written)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// The format of a part: a start, records, an end. Only the version that wrote it reads it.
enum PartFormat {
  static let start = Array("chatbot part 2\n\0".utf8)
  /// Length and checksum.
  static let prefixBytes = 8
  /// Kind, presentation time, decoding time, duration, flags.
  static let headerBytes = 26
  /// The kind, and the number of packets.
  private static let endBytes = 9
  /// The maximum length of a record. The end has up to 1,000 losses of 200 tiles.
  static let maximumBytes = max(MediaLimits.packetBytes + headerBytes, 64 << 20)

  /// A record of a part.
  enum Record {
    case packet(EncodedPacket)
    case end(count: UInt64, notes: ArraySlice<UInt8>)
  }

  static func record(_ packet: EncodedPacket) -> [UInt8] {
    var body: [UInt8] = [0]
    body.reserveCapacity(headerBytes + packet.bytes.count)
    for time in [packet.pts, packet.dts, packet.duration] { append(UInt64(bitPattern: time), to: &body) }
    body.append(packet.isKeyframe ? 1 : 0)
    body += packet.bytes
    return prefix(body) + body
  }

  static func end(count: UInt64, _ notes: [UInt8]) -> [UInt8] {
    var body: [UInt8] = [1]
    append(count, to: &body)
    body += notes.prefix(maximumBytes - endBytes)
    return prefix(body) + body
  }

  private static func prefix(_ body: [UInt8]) -> [UInt8] {
    let checksum = checksum(body[...])
    return [UInt32(body.count), checksum].flatMap { value in
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
  }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBytes { ~cchecksums_crc32c(0xFFFF_FFFF, $0.baseAddress, $0.count) }
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  /// Nil for a body that is none.
  static func record(_ body: ArraySlice<UInt8>) -> Record? {
    guard let kind = body.first else { return nil }
    let content = body.dropFirst()
    if kind == 1 {
      return body.count < endBytes ? nil : .end(count: number(content.prefix(8)), notes: content.dropFirst(8))
    }
    guard kind == 0, body.count >= headerBytes else { return nil }
    func time(_ index: Int) -> Int64 { Int64(bitPattern: number(content.dropFirst(8 * index).prefix(8))) }
    return .packet(
      EncodedPacket(
        pts: time(0), dts: time(1), duration: time(2), isKeyframe: content[content.startIndex + 24] & 1 == 1,
        bytes: Array(body.dropFirst(headerBytes))))
  }

  /// A number whose lowest byte is first.
  static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// What is done where a disk is full: it is tried again each second for a minute.
enum FullDisk {
  static let patience = 60

  /// Calls `body` until it returns no error of a full disk.
  ///
  /// - Parameters:
  ///   - action: a clause for the error, for example `“x” cannot be written`.
  ///   - whileFull: called before each pause.
  ///   - body: returns a negative value and sets `errno` if it fails.
  /// - Returns: what `body` returns.
  @discardableResult
  static func waiting(
    _ action: String, _ whileFull: () -> Void = {}, _ body: () -> Int32
  ) throws(ComposerFailure) -> Int32 {
    var tries = 0
    while true {
      let result = body()
      if result >= 0 { return result }
      let number = errno
      if number == EINTR { continue }
      guard number == ENOSPC || number == EDQUOT, tries < patience else {
        throw .output(
          number == ENOSPC || number == EDQUOT
            ? "\(action): the disk is full. When there is room, the same command goes on."
            : "\(action): \(OutputFile.reason(number)).")
      }
      tries += 1
      whileFull()
      sleep(1)
    }
  }
}
