internal import ICE
internal import Media
internal import NIOCore
internal import NIOPosix

/// A TCP connection to a participant that carries datagrams with their lengths (RFC 6544, RFC 4571).
///
/// It belongs to one event loop.
final class TCPConnection {
  /// The path as the ICE agent knows it: the local address of a connection that we open has the port 9.
  let local: TransportAddress
  let remote: TransportAddress
  /// The participant for whom we opened it; nil if it was accepted.
  let opener: ParticipantID?
  /// The participant at the other end; nil until a check with our ICE password has arrived. Nothing is sent before.
  private(set) var owner: ParticipantID?

  private var channel: (any Channel)?
  /// What was written before the connection was established.
  private var waiting: [ByteBuffer] = []
  private var hasUnflushed = false
  private var splitter = StreamFrameSplitter()
  private var admission = StreamAdmission()
  /// What was read and is not split into datagrams yet: it waits for its sender's next turn.
  private var unread = ByteBuffer()
  private(set) var isClosed = false
  /// Whether the other side has closed the connection; what came before may still be unread.
  var hasEnded = false
  /// Whether the connection waits for its sender's next turn.
  var isWaiting = false
  /// Reads from the connection again; nil unless reading was put off.
  var resumeReading: (() -> Void)?
  /// Whether the call that used it has ended, and no other one uses it.
  var isUnused = false
  /// When bytes last arrived.
  private(set) var lastRead = MonotonicInstant.now
  /// Reused for all datagrams that are not kept.
  private var datagram = ByteBuffer()

  /// Above the higher limit media is dropped, because it would arrive too late; the kernel buffers as well.
  static let watermark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 192 << 10)
  /// Above this limit everything is dropped. A connection that carries nothing must not fill the memory.
  static let maximumUnsent = 1 << 20
  private static let maximumWaiting = 64
  static let connectTimeout = TimeAmount.seconds(10)
  /// How much is read from the kernel at once.
  static let readAllocator = AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 2_048, maximum: 32 << 10)
  /// More than this is never kept: it can arrive only with the end of the connection.
  private static let maximumUnread = 128 << 10

  init(local: TransportAddress, remote: TransportAddress, openedFor opener: ParticipantID?) {
    self.local = local
    self.remote = remote
    self.opener = opener
    owner = opener
  }

  /// Whom the frames of the connection are charged to.
  var sender: ReadBudget.Sender { owner.map { .participant($0) } ?? .stranger(at: remote.ip) }

  /// Notes who is at the other end.
  func authenticated(as participant: ParticipantID) { owner = participant }

  /// Begins to use an established connection.
  func established(_ channel: any Channel) {
    if isClosed { return channel.close(promise: nil) }
    self.channel = channel
    for frame in waiting { channel.write(frame, promise: nil) }
    waiting = []
    channel.flush()
  }

  /// Sends a datagram with the next ``flush()``. Media is dropped while the connection carries less than is sent.
  func write(_ datagram: ByteBuffer) {
    guard !isClosed else { return }
    var frame = ByteBuffer()
    frame.reserveCapacity(StreamFraming.headerLength + datagram.readableBytes)
    StreamFraming.write(datagram, into: &frame)
    guard let channel else {
      if waiting.count < Self.maximumWaiting { waiting.append(frame) }
      return
    }
    if !channel.isWritable {
      let isMedia = (datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 0) >= 128
      let unsent = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      if isMedia || unsent > Self.maximumUnsent { return }
    }
    channel.write(frame, promise: nil)
    hasUnflushed = true
  }

  /// Passes what was written to the kernel.
  func flush() {
    guard hasUnflushed else { return }
    hasUnflushed = false
    channel?.flush()
  }

  /// Closes the connection. What was written and the kernel does not take at once is lost.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    flush()
    channel?.close(promise: nil)
    channel = nil
    waiting = []
    unread = ByteBuffer()
    resumeReading = nil
  }

  // MARK: Receiving

  /// Whether received bytes wait to be split into datagrams.
  var hasUnread: Bool { unread.readableBytes > 0 }

  /// Keeps a chunk of the stream; returns false if that is too much.
  func received(_ chunk: ByteBuffer) -> Bool {
    lastRead = .now
    if hasUnread { unread.writeImmutableBuffer(chunk) } else { unread = chunk }
    return unread.readableBytes <= Self.maximumUnread
  }

  /// Removes and returns the next datagram, which may be empty.
  func nextFrame() -> ByteBuffer? { isClosed ? nil : splitter.next(from: &unread) }

  /// Whether the connection may go on with this datagram. Who has not shown our password may send only checks.
  func admits(_ frame: ByteBuffer, isCheck: (ByteBuffer) -> Bool) -> Bool {
    owner != nil || admission.admits(frame, isCheck: isCheck)
  }

  /// Whether the connection may go on with the datagram that is not complete yet.
  var admitsIncomplete: Bool { owner != nil || splitter.announcedLength.map(admission.admits(announced:)) ?? true }

  /// Passes on a datagram; `take` may change its bytes in place.
  func pass(_ frame: ByteBuffer, _ take: (inout ByteBuffer) -> Void) {
    datagram.clear(minimumCapacity: frame.readableBytes)
    datagram.writeImmutableBuffer(frame)
    var taken = ByteBuffer()
    swap(&taken, &datagram)
    take(&taken)
    swap(&taken, &datagram)
  }
}
