import DataMessages
import Media
import NIOCore

/// The messages of data channels, and the file transfers that follow from them.
///
/// An input is a byte of choices (bit 0: files cannot be created, bit 1: complete files cannot be stored, bit 2: the peer
/// receives messages of at most 1,024 bytes), then lines. The first character of a line says what the peer does: `>` it
/// opens a channel for the file with this `sendId`, `=` it sends these bytes on the last channel, `@` it sends this text
/// on it, `x` it closes it, `+N` N seconds pass, `-` the connection ends; any other line is a message on the main
/// channel. We offer a file with the `sendId` `ours`.
enum DataMessageTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    var owner = FileOwner(choices: cursor.byte())
    try owner.carryOut()
    for line in cursor.remainder().split(separator: UInt8(ascii: "\n")) {
      let rest = ByteBuffer(bytes: line.dropFirst())
      let text = String(buffer: rest)
      switch line.first {
      case UInt8(ascii: ">"): owner.open(text)
      case UInt8(ascii: "="):
        if let chat = try? DataMessage(chatIn: rest) { try readAgain(chat) }
        owner.transfers.received(rest, on: owner.channel, now: owner.now)
      case UInt8(ascii: "@"):
        try fileChannelMessage(text)
        owner.transfers.received(text: text, on: owner.channel, now: owner.now)
      case UInt8(ascii: "x"): owner.transfers.channelClosed(owner.channel, now: owner.now)
      case UInt8(ascii: "+"): try owner.wait(seconds: Int(UInt8(text) ?? 1))
      case UInt8(ascii: "-"): owner.transfers.disconnected(now: owner.now)
      default:
        if let message = try dataMessage(String(decoding: line, as: UTF8.self)) {
          owner.transfers.receive(message, now: owner.now)
        }
      }
      try owner.carryOut()
    }
    owner.transfers.disconnected(now: owner.now)
    try owner.carryOut()
    try require(
      owner.transfers.count == 0, "\(owner.transfers.count) transfers remain without a connection.")
  }

  private static func dataMessage(_ text: String) throws(InvariantViolation) -> DataMessage? {
    switch Result(catching: { () throws(DataMessageError) in try DataMessage(parsing: text) }) {
    case .success(let message):
      try readAgain(message)
      return message
    case .failure(let error):
      try require(
        error.description.utf8.count < 300,
        "An error message has \(error.description.utf8.count) bytes.")
      return nil
    }
  }

  private static func readAgain(_ message: DataMessage) throws(InvariantViolation) {
    try require(
      (try? DataMessage(parsing: message.text)) == message,
      "A message does not round-trip: \(message.text)")
    if case .fileOffer(let offer) = message, let name = try? FileName(announced: offer.name) {
      try FileOwner.check(name)
      try FileOwner.check(name.numbered(1_000))
    }
  }

  private static func fileChannelMessage(_ text: String) throws(InvariantViolation) {
    guard let message = try? FileChannelMessage(parsing: text) else { return }
    // Escapes make a text longer than the limit.
    guard message.text.utf8.count <= DataMessageLimits.maximumFileTextBytes else { return }
    try require(
      (try? FileChannelMessage(parsing: message.text)) == message,
      "A message does not round-trip: \(message.text)")
  }
}

/// The owner of file transfers, whose files are only counted.
private struct FileOwner {
  var transfers: FileTransfers
  var now = MonotonicInstant.now
  /// The channel that was opened last; those of the peer are odd.
  private(set) var channel: UInt16 = 1
  private var ownChannel: UInt16 = 0
  private let choices: UInt8
  /// The announced sizes and the bytes written so far of the files that exist.
  private var files: [FileTransferID: (size: Int64, written: Int64)] = [:]

  private static let size: Int64 = 5_000
  private static let maximumFileBytes: Int64 = 1 << 20

  init(choices: UInt8) {
    self.choices = choices
    let policy = FilePolicy(
      acceptsFiles: true, maximumFileBytes: Self.maximumFileBytes,
      maximumTotalBytes: 4 * Self.maximumFileBytes)
    transfers = FileTransfers(
      .init(policy: policy, maximumMessageBytes: choices & 4 != 0 ? 1_024 : 65_536))
    _ = try? transfers.offer(name: "ours", size: Self.size, sendID: "ours", now: now)
  }

  /// The peer opens a channel.
  mutating func open(_ label: String) {
    channel &+= 2
    transfers.channelOpened(channel, label: label, isOpenedByPeer: true, now: now)
  }

  /// Lets the time pass, with all that is due meanwhile.
  mutating func wait(seconds: Int) throws(InvariantViolation) {
    let end = now + .seconds(seconds)
    var steps = 0
    while let deadline = transfers.deadline, deadline <= end {
      now = max(now, deadline)
      transfers.advance(now: now)
      try carryOut()
      steps += 1
      try require(steps <= 1_000, "The time does not pass: \(steps) deadlines in \(seconds) s.")
    }
    now = end
  }

  mutating func carryOut() throws(InvariantViolation) {
    var count = 0
    while true {
      let actions = transfers.takeActions()
      if actions.isEmpty { break }
      count += actions.count
      try require(count <= 1_000, "A message causes more than 1,000 actions.")
      for action in actions { try carryOut(action) }
    }
    try require(
      transfers.count <= DataMessageLimits.maximumTransfers,
      "There are \(transfers.count) transfers at a time.")
  }

  private mutating func carryOut(_ action: FileTransferAction) throws(InvariantViolation) {
    switch action {
    case .send(let text):
      try require(
        (try? DataMessage(parsing: text)) != nil, "The peer cannot read what is sent: \(text)")
    case .sendText(_, let text):
      try require(
        (try? FileChannelMessage(parsing: text)) != nil,
        "The peer cannot read what is sent: \(text)")
    case .openChannel(let label):
      ownChannel &+= 2
      channel = ownChannel
      transfers.channelOpened(ownChannel, label: label, isOpenedByPeer: false, now: now)
    case .sendBinary(let channel, let bytes):
      let largest = min(
        transfers.configuration.maximumMessageBytes, DataMessageLimits.maximumBinaryMessageBytes)
      try require(
        bytes.readableBytes <= largest, "A message of \(bytes.readableBytes) bytes is sent.")
      transfers.bufferedAmountChanged(0, of: channel, now: now)
    case .createFile(let id, let name, let offer):
      try Self.check(name)
      try require(offer.size <= Self.maximumFileBytes, "A file of \(offer.size) bytes is accepted.")
      if choices & 1 == 0 {
        files[id] = (offer.size, 0)
        transfers.fileCreated(id, now: now)
      } else {
        transfers.fileFailed(id, reason: "no space", now: now)
      }
    case .write(let id, let bytes):
      files[id]?.written += Int64(bytes.readableBytes)
      try require(
        files[id].map { $0.written <= $0.size } ?? false,
        "More bytes are written than were announced.")
    case .finish(let id, let sha256):
      try require(
        files[id].map { $0.written == $0.size } ?? false, "A file ends with a wrong size.")
      try require(sha256.utf8.count == 64, "The digest of a file is \(sha256).")
      if choices & 2 == 0 {
        files[id] = nil
        transfers.fileStored(id, now: now)
      } else {
        transfers.fileFailed(id, reason: "no space", now: now)
      }
    case .abandon(let id, let failure, let bytes, _):
      try require(
        files.removeValue(forKey: id)?.written == bytes, "The number of bytes of a part is wrong.")
      try Self.check(failure.description)
    case .readNeeded(let id, let offset, let count):
      try require(
        (0...Self.size).contains(offset) && count >= 0, "\(count) bytes are read at \(offset).")
      transfers.fileRead(
        id, ByteBuffer(repeating: 7, count: min(count, Int(Self.size - offset))), now: now)
    case .progress(_, let bytes, let total):
      try require((0...total).contains(bytes), "The progress is \(bytes) of \(total) bytes.")
    case .sendFailed(_, let failure): try Self.check(failure.description)
    case .refused(_, _, let refusal): try Self.check("\(refusal)")
    case .closeChannel, .sent: break
    }
  }

  private static func check(_ sentence: String) throws(InvariantViolation) {
    try require(
      sentence.utf8.count < 1_000, "A failure has a description of \(sentence.utf8.count) bytes.")
  }

  /// Checks that a file of this name is visible and in its folder.
  static func check(_ name: FileName) throws(InvariantViolation) {
    let text = name.description
    try require(
      (1...FileName.maximumBytes).contains(text.utf8.count), "A name has \(text.utf8.count) bytes.")
    let isSafe = !text.utf8.contains {
      $0 < 0x20 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
    }
    try require(
      isSafe && !text.hasPrefix(".") && !text.hasPrefix("-"), "The name \(text) is not safe.")
  }
}
