import Media
package import NIOCore

/// Builds an Ogg Opus file (RFC 7845) from Opus packets without touching any file: every call returns writes, each with
/// its offset.
///
/// Each packet is placed according to its time: a gap is filled with packets that request concealment. The last packet
/// waits for its successor, because the page that ends the stream must be marked; if the packet cannot wait, an empty
/// page ends the stream later.
package struct OggOpusWriter {
  static let codec = Codec.opus

  private let serial: Int32
  private let stream: OggStream
  private var channels: Int
  /// Ticks of 48 kHz in all packets so far, including the waiting one.
  private(set) var granule: Int64 = 0
  /// The same, of those packets that returned writes contain.
  private(set) var writtenGranule: Int64 = 0
  private var waiting: ByteBuffer?
  /// The first byte of the last packet.
  private var lastFirstByte: UInt8?
  /// The last page that was returned.
  private var lastPage: OggPage?
  /// The last page of each write that may not be on the disk, and of the write before those, each with the offset of
  /// its end.
  private var lastPages = CircularBuffer<(end: Int64, page: OggPage)>()
  /// Bytes of packets that no write contains yet.
  private(set) var unwrittenBytes = 0
  /// The offset of the next page.
  private var end: Int64 = 0

  /// - Parameters:
  ///   - serial: distinguishes the stream from others.
  ///   - channels: 1 or 2, according to the first packet.
  package init(serial: Int32, channels: Int) throws(OggStream.Failure) {
    self.serial = serial
    self.channels = channels
    stream = try OggStream(serial: serial)
  }

  /// The playing time of the file.
  var duration: Duration { Duration(opusTicks: max(0, granule - Int64(OpusHeader.preSkip))) }

  /// Returns the two header packets, each on its own page.
  package mutating func start() -> [FileWrite] {
    stream.add(OpusHeader.identification(channels: channels), granule: 0)
    var pages = stream.pages(all: true)
    stream.add(OpusHeader.comments, granule: 0)
    pages += stream.pages(all: true)
    return append(pages)
  }

  /// Raises the number of channels by rewriting the first page.
  mutating func declare(channels: Int) throws(OggStream.Failure) -> [FileWrite] {
    guard channels > self.channels else { return [] }
    self.channels = channels
    let again = try OggStream(serial: serial)
    again.add(OpusHeader.identification(channels: channels), granule: 0)
    return again.pages(all: true).map { FileWrite(offset: 0, bytes: $0) }
  }

  /// Adds the next packet.
  ///
  /// - Parameters:
  ///   - payload: a valid packet.
  ///   - duration: the packet's playing time in ticks of 48 kHz.
  ///   - position: the packet's start, in ticks of 48 kHz after the start of the first packet. If that is before the
  ///     end of the previous packet, this packet follows without a gap.
  package mutating func add(_ payload: ByteBuffer, duration: Int64, position: Int64) -> [FileWrite] {
    let filled = fillGap(to: position)
    put(payload, duration: duration)
    lastFirstByte = payload.getInteger(at: payload.readerIndex)
    return append(filled + stream.pages(all: false))
  }

  /// Extends the stream to this position, in ticks of 48 kHz, if it is shorter. A stream without packets stays empty.
  mutating func fill(to position: Int64) -> [FileWrite] {
    append(fillGap(to: position) + stream.pages(all: false))
  }

  /// Writes all packets so far, except the waiting one.
  ///
  /// - Parameter everything: whether to write that one as well.
  mutating func flush(everything: Bool = false) -> [FileWrite] {
    if everything, let waiting {
      stream.add(waiting, granule: granule)
      self.waiting = nil
    }
    return append(stream.pages(all: true))
  }

  /// Ends the stream.
  package mutating func finish() -> [FileWrite] {
    if let waiting {
      stream.add(waiting, granule: granule, isLast: true)
      self.waiting = nil
      return append(stream.pages(all: true))
    }
    return append(lastPage.map { [$0.end.bytes] } ?? [])
  }

  /// The number of bytes needed to end the stream after the returned writes: a page without packets.
  static let closingSize = Int64(OggPage.headerLength)

  /// Ends the stream after what is on the disk.
  ///
  /// - Parameter size: the number of bytes of the file that are on the disk; a write is there completely or not at all.
  mutating func finish(at size: Int64) -> [FileWrite] {
    guard let (end, page) = lastPages.last(where: { $0.end <= size }), !page.isLast else { return [] }
    return [FileWrite(offset: end, bytes: page.end.bytes)]
  }

  /// Discards pages that are no longer needed because `size` bytes of the file are on the disk.
  mutating func forgetPages(before size: Int64) {
    while lastPages.count > 1, lastPages[lastPages.index(after: lastPages.startIndex)].end <= size {
      lastPages.removeFirst()
    }
  }

  /// The maximum length of a gap on one page, in ticks of 48 kHz, so that a reader does not have to wait longer (RFC
  /// 7845, 3).
  private static let maximumGapOnPage: Int64 = 48_000

  /// - Returns: the pages that became full.
  private mutating func fillGap(to position: Int64) -> [ByteBuffer] {
    let gap = position - granule
    guard gap >= OpusGap.shortestFrame, let lastFirstByte else { return [] }
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

/// The two headers of an Opus stream in a file (RFC 7845, 5).
enum OpusHeader {
  /// The number of samples to skip at the start, in ticks of 48 kHz: the lookahead of libopus at 48 kHz, which browsers
  /// use.
  static let preSkip: UInt16 = 312

  /// Builds `OpusHead` (RFC 7845, 5.1), which is also the codec's private data in WebM.
  static func identification(channels: Int) -> ByteBuffer {
    var bytes = ByteBuffer(string: "OpusHead")
    bytes.writeInteger(1 as UInt8)
    bytes.writeInteger(UInt8(clamping: channels))
    bytes.writeInteger(preSkip, endianness: .little)
    bytes.writeInteger(48_000 as UInt32, endianness: .little)
    bytes.writeInteger(0 as Int16, endianness: .little)
    // Mapping family 0: one or two channels, one stream.
    bytes.writeInteger(0 as UInt8)
    return bytes
  }

  /// `OpusTags` (RFC 7845, 5.2) with no comments.
  static var comments: ByteBuffer {
    let vendor = "chatbot"
    var bytes = ByteBuffer(string: "OpusTags")
    bytes.writeInteger(UInt32(vendor.utf8.count), endianness: .little)
    bytes.writeString(vendor)
    bytes.writeInteger(0 as UInt32, endianness: .little)
    return bytes
  }
}
