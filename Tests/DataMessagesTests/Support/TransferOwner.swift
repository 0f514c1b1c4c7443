import DataMessages
import Media
import NIOCore
import TestSupport

/// The owner of one ``FileTransfers``: files in memory, and the main channel and the channels of files as queues.
struct TransferOwner {
  enum Sent: Equatable {
    case main(String)
    case open(label: String)
    case binary(UInt16, [UInt8])
    case text(UInt16, String)
    case close(UInt16)
  }

  var transfers: FileTransfers
  var now: MonotonicInstant
  /// The files to send.
  var files: [FileTransferID: [UInt8]] = [:]
  /// The file that the next offer sends.
  var nextFile: [UInt8] = []

  var sent: [Sent] = []
  var created: [FileTransferID: String] = [:]
  var written: [FileTransferID: [UInt8]] = [:]
  var finished: [FileTransferID: String] = [:]
  var abandoned: [FileTransferID: (failure: FileTransferFailure, bytes: Int64, sha256: String)] = [:]
  var confirmed: [FileTransferID: String] = [:]
  var failed: [FileTransferID: FileTransferFailure] = [:]
  var refusals: [FileRefusal] = []
  var lastProgress: [FileTransferID: Int64] = [:]
  var largestMessage = 0
  var largestBuffered = 0
  /// The bytes that wait on channels, as the owner reports them.
  var buffered: [UInt16: Int] = [:]

  // What the owner does
  var createsFiles = true
  var storesFiles = true
  var answersCreate = true
  /// The maximum number of bytes of one read.
  var readLimit = Int.max

  init(
    _ policy: FilePolicy = FilePolicy(acceptsFiles: true), offersBinary: Bool = true, messageBytes: Int = 65_536,
    now: MonotonicInstant = .now
  ) {
    transfers = FileTransfers(.init(policy: policy, offersBinary: offersBinary, maximumMessageBytes: messageBytes))
    self.now = now
  }

  @discardableResult
  mutating func offer(_ name: String, _ bytes: [UInt8], sendID: String = "ID") throws -> FileTransferID {
    let id = try transfers.offer(name: name, size: Int64(bytes.count), sendID: sendID, now: now)
    files[id] = bytes
    carryOut()
    return id
  }

  mutating func receive(_ text: String) throws {
    transfers.receive(try DataMessage(parsing: text), now: now)
    carryOut()
  }

  mutating func call(_ body: (inout FileTransfers, MonotonicInstant) -> Void) {
    body(&transfers, now)
    carryOut()
  }

  /// Advances to the deadline if it is at most `limit` away; returns whether it was.
  @discardableResult
  mutating func advance(by limit: Duration) -> Bool {
    guard let deadline = transfers.deadline, deadline <= now + limit else {
      now += limit
      return false
    }
    now = max(now, deadline)
    call { $0.advance(now: $1) }
    return true
  }

  mutating func carryOut() {
    while true {
      let actions = transfers.takeActions()
      if actions.isEmpty { return }
      for action in actions { carryOut(action) }
    }
  }

  private mutating func carryOut(_ action: FileTransferAction) {
    switch action {
    case .send(let text): sent.append(.main(text))
    case .openChannel(let label): sent.append(.open(label: label))
    case .sendBinary(let channel, let bytes):
      largestMessage = max(largestMessage, bytes.readableBytes)
      buffered[channel, default: 0] += bytes.readableBytes
      largestBuffered = max(largestBuffered, buffered[channel] ?? 0)
      sent.append(.binary(channel, Array(bytes.readableBytesView)))
      transfers.bufferedAmountChanged(buffered[channel] ?? 0, of: channel, now: now)
    case .sendText(let channel, let text): sent.append(.text(channel, text))
    case .closeChannel(let channel): sent.append(.close(channel))
    case .createFile(let id, let name, _):
      created[id] = name.description
      if !answersCreate { return }
      if createsFiles {
        transfers.fileCreated(id, now: now)
      } else {
        transfers.fileFailed(id, reason: "no space", now: now)
      }
    case .write(let id, let bytes): written[id, default: []] += bytes.readableBytesView
    case .finish(let id, let sha256):
      finished[id] = sha256
      if storesFiles {
        transfers.fileStored(id, now: now)
      } else {
        transfers.fileFailed(id, reason: "/secret/path: no space", now: now)
      }
    case .abandon(let id, let failure, let bytes, let sha256): abandoned[id] = (failure, bytes, sha256)
    case .readNeeded(let id, let offset, let count):
      let file = files[id] ?? []
      let part = file.dropFirst(Int(offset)).prefix(min(count, readLimit))
      transfers.fileRead(id, ByteBuffer(bytes: part), now: now)
    case .progress(let id, let bytes, _): lastProgress[id] = bytes
    case .sent(let id, let sha256): confirmed[id] = sha256
    case .sendFailed(let id, let failure): failed[id] = failure
    case .refused(_, _, let refusal): refusals.append(refusal)
    }
  }
}

/// Two owners whose channels are connected.
struct TransferPair {
  var left: TransferOwner
  var right: TransferOwner
  private var nextChannel: UInt16 = 2
  /// The number of bytes of a channel that are delivered in one step; the rest waits.
  var bytesPerStep = 256 << 10

  init(_ left: TransferOwner, _ right: TransferOwner) {
    self.left = left
    self.right = right
    self.right.now = left.now
  }

  /// Delivers what was sent and advances the time until nothing happens within a second.
  mutating func run(steps: Int = 200_000, until isDone: (TransferPair) -> Bool = { _ in false }) throws {
    for _ in 0..<steps {
      if isDone(self) { return }
      let isDelivered = try deliver()
      if isDelivered { continue }
      let next = [left.transfers.deadline, right.transfers.deadline].compactMap(\.self).min()
      guard let next, next <= left.now + .seconds(1) else { return }
      left.now = max(left.now, next)
      right.now = left.now
      left.call { $0.advance(now: $1) }
      right.call { $0.advance(now: $1) }
    }
  }

  private mutating func deliver() throws -> Bool {
    let isAny = !left.sent.isEmpty || !right.sent.isEmpty
    try deliver(from: \.left, to: \.right)
    try deliver(from: \.right, to: \.left)
    return isAny
  }

  private mutating func deliver(
    from: WritableKeyPath<TransferPair, TransferOwner>, to: WritableKeyPath<TransferPair, TransferOwner>
  ) throws {
    var bytes = 0
    while !self[keyPath: from].sent.isEmpty, bytes < bytesPerStep {
      switch self[keyPath: from].sent.removeFirst() {
      case .main(let text): try self[keyPath: to].receive(text)
      case .open(let label):
        let channel = nextChannel
        nextChannel += 2
        self[keyPath: to].call { $0.channelOpened(channel, label: label, isOpenedByPeer: true, now: $1) }
        self[keyPath: from].call { $0.channelOpened(channel, label: label, isOpenedByPeer: false, now: $1) }
      case .binary(let channel, let message):
        bytes += message.count
        self[keyPath: to].call { $0.received(ByteBuffer(bytes: message), on: channel, now: $1) }
        self[keyPath: from].buffered[channel, default: 0] -= message.count
        let amount = self[keyPath: from].buffered[channel] ?? 0
        self[keyPath: from].call { $0.bufferedAmountChanged(amount, of: channel, now: $1) }
      case .text(let channel, let text): self[keyPath: to].call { $0.received(text: text, on: channel, now: $1) }
      case .close(let channel):
        self[keyPath: to].call { $0.channelClosed(channel, now: $1) }
        self[keyPath: from].call { $0.channelClosed(channel, now: $1) }
      }
    }
  }
}

/// Random bytes of a seed.
func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

func sha256(_ bytes: [UInt8]) -> String {
  var hash = SHA256Hash()
  hash.update(ByteBuffer(bytes: bytes))
  return hash.digest
}
