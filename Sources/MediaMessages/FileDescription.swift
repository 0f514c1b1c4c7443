/// What the headers of a file say.
package struct FileDescription: Sendable, Hashable {
  /// The name of the format, for example `MP4`.
  package var format: String
  /// Whether the file states more bytes than it has.
  package var isTruncated: Bool
  package var tracks: [Track]

  package struct Track: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable {
      case video = 1
      case audio = 2
      /// Subtitles, cover pictures and everything else.
      case other = 3
    }

    package var kind: Kind
    /// FFmpeg's name of the codec, for example `hevc`, or the four characters of an unknown one; printable ASCII.
    package var codec: String
    /// Whether the worker decodes the codec.
    package var isDecodable: Bool
    package var isEncrypted: Bool
    /// By how many degrees frames must be turned clockwise: 0, 90, 180 or 270.
    package var rotation: Int
    /// Whether frames must be mirrored, left to right, before they are turned.
    package var isMirrored: Bool
    package var width: Int
    package var height: Int
    /// In Hz.
    package var sampleRate: Int
    package var channels: Int
    /// The samples to discard at the start, at 48 kHz.
    package var preSkip: Int
    /// What a decoder needs before the first frame.
    package var extradata: [UInt8]

    package init(kind: Kind, codec: String) {
      self.kind = kind
      self.codec = codec
      isDecodable = false
      isEncrypted = false
      rotation = 0
      isMirrored = false
      width = 0
      height = 0
      sampleRate = 0
      channels = 0
      preSkip = 0
      extradata = []
    }
  }

  package init(format: String, isTruncated: Bool = false, tracks: [Track] = []) {
    self.format = format
    self.isTruncated = isTruncated
    self.tracks = tracks
  }

  package init(parsing bytes: UnsafeRawBufferPointer) throws(MessageError) {
    var reader = BulkReader(bytes)
    format = try reader.text()
    isTruncated = try reader.number() != 0
    let count = try reader.number(upTo: MediaLimits.tracks)
    tracks = []
    for _ in 0..<count { tracks.append(try Track(&reader)) }
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    Self.write(format, to: &writer)
    writer.number(isTruncated ? 1 : 0 as Int)
    let tracks = tracks.prefix(MediaLimits.tracks)
    writer.number(tracks.count)
    for track in tracks { track.write(to: &writer) }
    return writer.bytes
  }

  fileprivate static func write(_ text: String, to writer: inout MessageWriter) {
    let bytes = Array(text.utf8.prefix(MediaLimits.reasonBytes))
    writer.number(bytes.count)
    for byte in bytes { writer.byte(byte) }
  }
}

extension FileDescription.Track {
  fileprivate init(_ reader: inout BulkReader) throws(MessageError) {
    guard let kind = Kind(rawValue: UInt8(clamping: try reader.number())) else {
      throw MessageError("a track is of no kind")
    }
    self.init(kind: kind, codec: try reader.text())
    isDecodable = try reader.number() != 0
    isEncrypted = try reader.number() != 0
    rotation = try reader.number(upTo: 270)
    guard rotation.isMultiple(of: 90) else { throw MessageError("a track is turned by \(rotation) degrees") }
    isMirrored = try reader.number() != 0
    width = try reader.number()
    height = try reader.number()
    sampleRate = try reader.number()
    channels = min(try reader.number(), MediaLimits.statedChannels)
    preSkip = try reader.number(upTo: 48_000)
    extradata = Array(try reader.bytes(try reader.number(upTo: MediaLimits.extradataBytes)))
  }

  fileprivate func write(to writer: inout MessageWriter) {
    writer.number(Int(kind.rawValue))
    FileDescription.write(codec, to: &writer)
    for number in [
      isDecodable ? 1 : 0, isEncrypted ? 1 : 0, rotation, isMirrored ? 1 : 0, width, height, sampleRate, channels,
      preSkip,
    ] { writer.number(number) }
    let extradata = extradata.count <= MediaLimits.extradataBytes ? extradata : []
    writer.number(extradata.count)
    for byte in extradata { writer.byte(byte) }
  }
}

/// Packets of a file's track, in the order of decoding.
package struct FilePackets: Sendable, Hashable {
  package struct Packet: Sendable, Hashable {
    /// When it is shown; nil if the file does not tell it.
    package var time: Int64?
    /// 0 if the file does not tell it.
    package var duration: Int64
    package var isKeyframe: Bool
    /// Whether the file says that it is decoded but not shown or heard (an edit list).
    package var isDiscarded: Bool
    package var isEncrypted: Bool
    /// The part of the decoded audio to discard at the start and at the end.
    package var skipAtStart: Int64
    package var skipAtEnd: Int64
    package var size: Int
    /// Where its bytes are, from the start of ``FilePackets``; 0 if they are not there.
    package var offset: Int

    package init(
      time: Int64?, duration: Int64, isKeyframe: Bool, isDiscarded: Bool = false, isEncrypted: Bool = false,
      skipAtStart: Int64 = 0, skipAtEnd: Int64 = 0, size: Int, offset: Int = 0
    ) {
      self.time = time
      self.duration = duration
      self.isKeyframe = isKeyframe
      self.isDiscarded = isDiscarded
      self.isEncrypted = isEncrypted
      self.skipAtStart = skipAtStart
      self.skipAtEnd = skipAtEnd
      self.size = size
      self.offset = offset
    }

    /// The bytes of an entry in the table.
    package static let entryBytes = 48
  }

  package var packets: [Packet] = []

  package init(_ packets: [Packet] = []) { self.packets = packets }

  /// Parses the table, which is behind the packets: its last 4 bytes are the number of its entries.
  package init(parsing bytes: UnsafeRawBufferPointer) throws(MessageError) {
    guard bytes.count >= 4 else { throw MessageError("the packets have no table") }
    var last = BulkReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(4)))
    let count = try last.number(upTo: MediaLimits.packets)
    let start = bytes.count - 4 - count * Packet.entryBytes
    guard start >= 0 else { throw MessageError("the table of packets is cut off") }
    var reader = BulkReader(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    for _ in 0..<count {
      let flags = try reader.number()
      let time = try reader.time().boundedTime
      let packet = Packet(
        time: flags & 1 != 0 ? time : nil, duration: try reader.time().boundedDuration, isKeyframe: flags & 2 != 0,
        isDiscarded: flags & 4 != 0, isEncrypted: flags & 8 != 0, skipAtStart: try reader.time().boundedDuration,
        skipAtEnd: try reader.time().boundedDuration, size: Int(try reader.number(upTo: MediaLimits.frameBytes)),
        offset: try reader.number(upTo: MediaLimits.sharedBytes))
      try reader.skip(4)
      guard packet.offset == 0 || packet.offset + packet.size <= start else {
        throw MessageError("a packet is outside of the memory")
      }
      packets.append(packet)
    }
  }

  /// The table.
  package var encoded: [UInt8] {
    var writer = MessageWriter()
    for packet in packets {
      var flags = 0
      if packet.time != nil { flags |= 1 }
      if packet.isKeyframe { flags |= 2 }
      if packet.isDiscarded { flags |= 4 }
      if packet.isEncrypted { flags |= 8 }
      writer.number(flags)
      writer.time(packet.time ?? 0)
      writer.time(packet.duration)
      writer.time(packet.skipAtStart)
      writer.time(packet.skipAtEnd)
      writer.number(packet.size)
      writer.number(packet.offset)
      writer.number(0 as Int)
    }
    writer.number(packets.count)
    return writer.bytes
  }
}
