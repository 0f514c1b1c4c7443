import NIOCore

/// Makes an Ogg Opus file (RFC 7845) of Opus packets, touching none: every call gives the bytes to be written and where.
///
/// Each packet is put where its time says: a gap is filled with packets that request concealment. The last packet waits for
/// its successor, because the page that ends the stream must say so; where it cannot wait, an empty page says it later.
struct OggOpusWriter {
  private let serial: Int32
  private let stream: OggStream
  private var channels: Int
  /// Ticks of 48 kHz in all packets so far, the waiting one included.
  private(set) var granule: Int64 = 0
  /// The same, of those packets that are in what was given.
  private(set) var writtenGranule: Int64 = 0
  private var waiting: ByteBuffer?
  /// The first byte of the last packet.
  private var lastFirstByte: UInt8?
  /// The last page that was given.
  private var lastPage: OggPage?
  /// The last page of each write that may not be on the disk, and of the one before: where it ends, and the page.
  private var lastPages = CircularBuffer<(end: Int64, page: OggPage)>()
  /// Bytes of packets that no write holds yet.
  private(set) var unwrittenBytes = 0
  /// Where the next page goes.
  private var end: Int64 = 0

  /// - Parameters:
  ///   - serial: tells the stream from others.
  ///   - channels: 1 or 2, by the first packet.
  init(serial: Int32, channels: Int) throws(OggStream.Failure) {
    self.serial = serial
    self.channels = channels
    stream = try OggStream(serial: serial)
  }

  /// How long the file plays.
  var duration: Duration { Duration(opusTicks: max(0, granule - Int64(OpusHeader.preSkip))) }

  /// The two headers, each on its own page.
  mutating func start() -> [FileWrite] {
    stream.add(OpusHeader.identification(channels: channels), granule: 0)
    var pages = stream.pages(all: true)
    stream.add(OpusHeader.comments, granule: 0)
    pages += stream.pages(all: true)
    return append(pages)
  }

  /// Notes more channels: the first page is written again.
  mutating func declare(channels: Int) throws(OggStream.Failure) -> [FileWrite] {
    guard channels > self.channels else { return [] }
    self.channels = channels
    let again = try OggStream(serial: serial)
    again.add(OpusHeader.identification(channels: channels), granule: 0)
    return again.pages(all: true).map { FileWrite(offset: 0, bytes: $0) }
  }

  /// Takes the next packet.
  ///
  /// - Parameters:
  ///   - payload: a valid packet.
  ///   - duration: what it plays, in ticks of 48 kHz.
  ///   - position: where it begins, in ticks of 48 kHz after the first packet's beginning. Before the end of the packet
  ///     before it, it follows that one without a gap.
  mutating func add(_ payload: ByteBuffer, duration: Int64, position: Int64) -> [FileWrite] {
    let filled = fillGap(to: position)
    put(payload, duration: duration)
    lastFirstByte = payload.getInteger(at: payload.readerIndex)
    return append(filled + stream.pages(all: false))
  }

  /// Makes the stream last until this position, in ticks of 48 kHz, if it does not yet. Without a packet before, it stays
  /// empty.
  mutating func fill(to position: Int64) -> [FileWrite] {
    append(fillGap(to: position) + stream.pages(all: false))
  }

  /// Writes what has come so far, but for the packet that waits.
  ///
  /// - Parameter everything: whether that one cannot wait any longer, either.
  mutating func flush(everything: Bool = false) -> [FileWrite] {
    if everything, let waiting {
      stream.add(waiting, granule: granule)
      self.waiting = nil
    }
    return append(stream.pages(all: true))
  }

  /// Ends the stream.
  mutating func finish() -> [FileWrite] {
    if let waiting {
      stream.add(waiting, granule: granule, isLast: true)
      self.waiting = nil
      return append(stream.pages(all: true))
    }
    return append(lastPage.map { [$0.end.bytes] } ?? [])
  }

  /// Bytes that it takes to end the stream behind what is given: a page without packets.
  static let closingSize = Int64(OggPage.headerLength)

  /// Ends the stream where the disk has taken no more of it.
  ///
  /// - Parameter size: how many bytes of the file are on the disk; a write is there as a whole or not at all.
  mutating func finish(at size: Int64) -> [FileWrite] {
    guard let (end, page) = lastPages.last(where: { $0.end <= size }), !page.isLast else { return [] }
    return [FileWrite(offset: end, bytes: page.end.bytes)]
  }

  /// Takes note that so much of the file is on the disk.
  mutating func forgetPages(before size: Int64) {
    while lastPages.count > 1, lastPages[lastPages.index(after: lastPages.startIndex)].end <= size {
      lastPages.removeFirst()
    }
  }

  /// The most of a gap that lies on one page, in ticks of 48 kHz: a reader should not have to wait for longer (RFC 7845, 3).
  private static let maximumGapOnPage: Int64 = 48_000

  /// - Returns: the pages that are full of it.
  private mutating func fillGap(to position: Int64) -> [ByteBuffer] {
    let gap = position - granule
    guard gap >= OpusGap.shortest, let lastFirstByte else { return [] }
    var pages: [ByteBuffer] = []
    var begin = granule
    for packet in OpusGap.packets(filling: gap, after: lastFirstByte) {
      put(packet.payload, duration: packet.duration)
      guard granule - begin >= Self.maximumGapOnPage else { continue }
      pages += stream.pages(all: true)
      begin = granule
    }
    return pages
  }

  private mutating func put(_ payload: ByteBuffer, duration: Int64) {
    if let waiting { stream.add(waiting, granule: granule) }
    waiting = payload
    unwrittenBytes += payload.readableBytes
    granule += duration
  }

  /// - Returns: one write for all pages, or none.
  private mutating func append(_ pages: [ByteBuffer]) -> [FileWrite] {
    guard let last = pages.last else { return [] }
    let offset = end
    var bytes = ByteBuffer()
    for page in pages { bytes.writeImmutableBuffer(page) }
    end += Int64(bytes.readableBytes)
    lastPage = OggPage(parsing: last)
    if let lastPage { lastPages.append((end, lastPage)) }
    writtenGranule = max(writtenGranule, lastPage?.granule ?? 0)
    unwrittenBytes = waiting?.readableBytes ?? 0
    return [FileWrite(offset: offset, bytes: bytes)]
  }
}
