import Bitstream
import COgg
import Media
import NIOCore

/// Reads an Ogg file with one Opus stream (RFC 7845); libogg splits it into pages and packets.
///
/// Times are computed from the granule positions, so gaps are kept. A file that ends in the middle of a page is played
/// up to the last whole page. Left out on purpose: multiplexed and chained streams. They are refused, and so are damaged pages unless
/// `continuesAfterDamage` says that reading goes on with the next whole page.
final class OggReader: ContainerReader {
  static let codec = Codec.opus

  /// libogg's states contain pointers into themselves, so they must not move.
  private let sync = UnsafeMutablePointer<ogg_sync_state>.allocate(capacity: 1)
  private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
  private let file: OpenFile
  /// The number of bytes given to libogg, and of those that it has returned as pages.
  private var readPosition: UInt64 = 0
  private var pagePosition: UInt64 = 0
  /// The bytes of a packet that no page has completed yet.
  private var unfinishedBytes = 0
  private(set) var head: OpusHead?
  private var hasHeaders = false
  private(set) var isTruncated = false
  private(set) var damages: [FileDamage] = []
  private let continuesAfterDamage: Bool

  private var waiting: [ContainerFrame] = []
  private var nextWaiting = 0
  /// The granule position at which the next packet should begin; nil before the first packet.
  private var nextGranule: Int64?
  private var firstGranule: Int64 = 0

  private static let readSize = 16 << 10
  /// The largest comment header: tags can contain a cover image.
  private static let maximumHeader = 8 << 20
  private static let maximumPacketBytes = 64 << 10
  private static let latestGranule: Int64 = 1 << 53

  /// Reads the two header packets.
  init(_ file: OpenFile, continuesAfterDamage: Bool = false) throws(MediaFile.ReadError) {
    self.file = file
    self.continuesAfterDamage = continuesAfterDamage
    sync.initialize(to: ogg_sync_state())
    stream.initialize(to: ogg_stream_state())
    ogg_sync_init(sync)
    try readHeaders()
  }

  deinit {
    ogg_stream_clear(stream)
    ogg_sync_clear(sync)
    stream.deallocate()
    sync.deallocate()
  }

  func next() throws(MediaFile.ReadError) -> ContainerFrame? {
    while nextWaiting == waiting.count {
      guard var page = try nextPage() else { return nil }
      let size = UInt64(page.header_len + page.body_len)
      let position = pagePosition - min(size, pagePosition)
      nextWaiting = 0
      do throws(MediaFile.ReadError) {
        try take(&page, at: position)
        waiting = try frames(of: page, at: position)
      } catch {
        waiting = []
        try skip(position..<pagePosition, error)
      }
    }
    defer { nextWaiting += 1 }
    return waiting[nextWaiting]
  }

  /// Notes a part of the file that cannot be read, or ends reading.
  private func skip(_ range: Range<UInt64>, _ reason: MediaFile.ReadError) throws(MediaFile.ReadError) {
    // Without its header, nothing of the file is known.
    guard continuesAfterDamage, hasHeaders else { throw reason }
    // The rest of a packet that the part began is left out with it.
    ogg_stream_reset(stream)
    unfinishedBytes = 0
    if let last = damages.last, last.range.upperBound == range.lowerBound {
      damages[damages.count - 1].range = last.range.lowerBound..<range.upperBound
      return
    }
    guard damages.count < FileDamage.maximumCount else { throw reason }
    damages.append(FileDamage(range: range, reason: reason))
  }

  // MARK: Headers

  private func readHeaders() throws(MediaFile.ReadError) {
    guard var first = try nextPage(), ogg_page_bos(&first) != 0 else {
      throw .damaged(position: 0, "no Ogg stream begins")
    }
    ogg_stream_init(stream, ogg_page_serialno(&first))
    ogg_stream_pagein(stream, &first)
    guard let identification = try nextPacket(at: 0) else {
      throw .damaged(position: 0, "the first Ogg page holds no packet")
    }
    guard let head = OpusHead(parsing: identification.readableBytesView) else {
      throw Self.codecError(identification)
    }
    try head.refuseMoreThanStereo()
    self.head = head

    while true {
      let position = pagePosition
      guard var page = try nextPage() else { throw .noMedia }
      try take(&page, at: position)
      guard let tags = try nextPacket(at: position) else { continue }
      guard tags.readableBytesView.starts(with: "OpusTags".utf8) else {
        throw .damaged(position: position, "the second Ogg packet is not OpusTags")
      }
      guard try nextPacket(at: position) == nil else {
        throw .damaged(position: position, "audio begins on the page of OpusTags")
      }
      hasHeaders = true
      return
    }
  }

  private static func codecError(_ identification: ByteBuffer) -> MediaFile.ReadError {
    let known: [(start: String, rejection: MediaFile.ReadError)] = [
      ("\u{1}vorbis", .unsupportedCodec(.audio, "Vorbis")),
      ("\u{7f}FLAC", .unsupportedCodec(.audio, "FLAC")),
      ("Speex   ", .unsupportedCodec(.audio, "Speex")),
      ("OpusHead", .unsupported("its Opus header cannot be read")),
      ("OVP80", .unsupported("it is VP8 in Ogg, and video is played from WebM and IVF only")),
    ]
    for (start, rejection) in known where identification.readableBytesView.starts(with: start.utf8) { return rejection }
    if identification.getBytes(at: identification.readerIndex, length: 7) == [0x80] + Array("theora".utf8) {
      return .unsupportedCodec(.video, "Theora")
    }
    if identification.readableBytesView.starts(with: "fishead".utf8) {
      return .unsupported("it has several Ogg streams side by side, and one Opus stream is played")
    }
    return .unsupported("its Ogg stream is not Opus")
  }

  // MARK: Pages

  /// Returns the next whole page; nil at the end. Its bytes are valid until the next call.
  private func nextPage() throws(MediaFile.ReadError) -> ogg_page? {
    var page = ogg_page()
    while true {
      let size = ogg_sync_pageseek(sync, &page)
      if size > 0 {
        pagePosition += UInt64(size)
        return page
      }
      if size < 0 {
        let reason = MediaFile.ReadError.damaged(
          position: pagePosition, "\(-size) bytes are not a whole Ogg page, or its checksum is wrong")
        let end = pagePosition + UInt64(-size)
        try skip(pagePosition..<end, reason)
        pagePosition = end
        continue
      }
      guard let target = ogg_sync_buffer(sync, Self.readSize) else {
        throw .unsupported("there is no memory left to read it")
      }
      let count = try file.read(
        into: UnsafeMutableRawBufferPointer(start: target, count: Self.readSize), from: readPosition)
      if count == 0 {
        isTruncated = readPosition > pagePosition || unfinishedBytes > 0
        return nil
      }
      readPosition += UInt64(count)
      ogg_sync_wrote(sync, count)
    }
  }

  /// Passes a page to the stream, and refuses a page of another stream.
  private func take(_ page: inout ogg_page, at position: UInt64) throws(MediaFile.ReadError) {
    if ogg_page_bos(&page) != 0 {
      throw nextGranule == nil
        ? .unsupported("it has several Ogg streams side by side, and one Opus stream is played")
        : .unsupported("at byte \(position) a second Ogg stream begins (chained), and one is played")
    }
    guard ogg_stream_pagein(stream, &page) == 0 else {
      throw .damaged(position: position, "an Ogg page belongs to another stream")
    }
    unfinishedBytes = ogg_page_packets(&page) > 0 ? 0 : unfinishedBytes + page.body_len
    let limit = head == nil || nextGranule == nil ? Self.maximumHeader : Self.maximumPacketBytes
    if unfinishedBytes > limit {
      throw .damaged(position: position, "a packet is larger than \(limit) bytes")
    }
  }

  /// Returns the next packet that the pages so far complete.
  private func nextPacket(at position: UInt64) throws(MediaFile.ReadError) -> ByteBuffer? {
    var packet = ogg_packet()
    switch ogg_stream_packetout(stream, &packet) {
    case 0: return nil
    case 1: return ByteBuffer(bytes: UnsafeRawBufferPointer(start: packet.packet, count: packet.bytes))
    default:
      // The pages before it were damaged.
      if !damages.isEmpty { return try nextPacket(at: position) }
      throw .damaged(position: position, "an Ogg page is missing")
    }
  }

  // MARK: Time

  /// Returns the packets that a page completes, each with its time: the page's granule position is the end of the last
  /// packet (RFC 7845, 4).
  private func frames(of page: ogg_page, at position: UInt64) throws(MediaFile.ReadError) -> [ContainerFrame] {
    var page = page
    var packets: [(payload: ByteBuffer, length: Int64)] = []
    while let payload = try nextPacket(at: position) {
      guard let length = (try? OpusTableOfContents(parsing: payload)).map({ Int64($0.duration) }) else {
        if payload.readableBytes == 0 { continue }
        throw .damaged(position: position, "a packet of \(payload.readableBytes) bytes is not Opus")
      }
      packets.append((payload, length))
    }
    guard !packets.isEmpty else { return [] }

    let end = ogg_page_granulepos(&page)
    guard end >= 0, end <= Self.latestGranule else {
      throw .damaged(position: position, "an Ogg page has no granule position")
    }
    let sum = packets.reduce(0) { $0 + $1.length }
    var granule = end - sum
    if let expected = nextGranule {
      // The last page may state an earlier end, which trims the last packet (RFC 7845, 4.4). A call plays it whole.
      if ogg_page_eos(&page) != 0, granule < expected { granule = expected }
    } else {
      firstGranule = granule
    }
    nextGranule = granule + sum

    let unit = MediaTimebase.units(perTickOf: .audio)
    guard abs(granule - firstGranule + sum) <= MediaTimebase.latest / unit else {
      throw .damaged(position: position, "a packet's time is beyond \(MediaTimebase.latestHours) h")
    }
    var time = granule - firstGranule
    return packets.map { packet in
      defer { time += packet.length }
      return ContainerFrame(
        time: time * unit, length: packet.length * unit, payload: packet.payload, position: position)
    }
  }
}
