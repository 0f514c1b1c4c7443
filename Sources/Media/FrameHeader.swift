package import Bitstream
package import NIOCore

/// What a frame's bitstream says about the frame. It is parsed once, where the frame is received, read from a file or encoded.
/// Small, because frames are copied often.
package enum FrameHeader: Sendable, Hashable {
  case audio(AudioHeader)
  case video(VideoHeader)
  /// The payload is not a frame of its codec.
  case unreadable

  /// Parses the header of a whole frame.
  package init(parsing payload: ByteBuffer, of codec: Codec) {
    switch codec.audio {
    case .opus: self = (try? OpusPacket(parsing: payload)).map { .audio(AudioHeader($0)) } ?? .unreadable
    case .g722, .pcmu, .pcma: self = AudioHeader(octets: payload.readableBytes).map(FrameHeader.audio) ?? .unreadable
    case nil: self = codec.properties.bitstream?.header(of: payload).map(FrameHeader.video) ?? .unreadable
    }
  }

  /// Returns what a keyframe says that keeps its stream from being sent as it is, as a clause; nil if nothing does.
  package static func obstacle(keyframe payload: ByteBuffer, of codec: Codec) -> String? {
    codec.properties.bitstream?.obstacle(toSending: payload)
  }

  /// Returns the maximum number of frames that precede one in decoding and follow it in output, according to the parameter sets of a
  /// keyframe; nil if they do not tell it.
  package static func reorderedFrames(keyframe payload: ByteBuffer, of codec: Codec) -> Int? {
    codec.properties.bitstream.flatMap { $0.reorderedFrames(keyframe: payload) }
  }

  /// Why frames that a receiver must show in another order are not sent, as a clause.
  package static let reordering = "its frames are not stored in the order in which they are shown (B-frames)"

  /// Nil for video and for what cannot be parsed.
  package var audio: AudioHeader? {
    if case .audio(let header) = self { header } else { nil }
  }

  /// Nil for audio and for what cannot be parsed.
  package var video: VideoHeader? {
    if case .video(let header) = self { header } else { nil }
  }

  /// The header of an Opus packet; nil for other codecs and for what cannot be parsed.
  package var opus: OpusPacket? { audio.flatMap(\.opus) }

  /// Whether the frame can be decoded without an earlier one; false for what cannot be parsed.
  package var isKeyframe: Bool {
    switch self {
    case .audio: true
    case .video(let header): header.isKeyframe
    case .unreadable: false
    }
  }

  /// Returns the playing time of an audio packet in ticks of the codec's clock, also if only the first bytes are those of the
  /// codec; nil for video and for what has no duration.
  ///
  /// - Parameter header: the packet's parsed header.
  package static func ticks(of payload: ByteBuffer, _ codec: Codec, header: FrameHeader) -> Int? {
    switch codec.audio {
    case .opus: header.opus?.duration ?? (try? OpusTableOfContents(parsing: payload))?.duration
    case .g722, .pcmu, .pcma: header.audio == nil ? nil : payload.readableBytes
    case nil: nil
    }
  }
}

/// What the header of an audio packet says.
package struct AudioHeader: Sendable, Hashable {
  /// In nanoseconds: 4 bytes, where a `Duration` takes 16.
  private let nanoseconds: UInt32
  private let channelCount: UInt8
  /// Whether the packet only signals that the sender is silent.
  package let isSilent: Bool
  /// The header of an Opus packet, which concealment needs; nil for other codecs.
  package let opus: OpusPacket?

  /// How long the packet plays.
  package var duration: Duration { .nanoseconds(Int64(nanoseconds)) }
  /// 1 or 2.
  package var channels: Int { Int(channelCount) }
  /// Whether the packet has a copy of the audio before it (in-band FEC), from which a lost packet can be reconstructed.
  package var carriesCopy: Bool { opus?.carriesCopy ?? false }

  /// The header of a packet of G.711 or G.722, where an octet is 1/8000 s of one channel (RFC 3551, 4.5.2 and 4.5.14).
  ///
  /// Nil for an empty packet and for one above 120 ms.
  package init?(octets: Int) {
    guard (1...Self.maximumOctets).contains(octets) else { return nil }
    nanoseconds = UInt32(octets) * 125_000
    channelCount = 1
    isSilent = false
    opus = nil
  }

  /// The octets of 120 ms in G.711 and G.722.
  private static let maximumOctets = 960

  package init(_ packet: OpusPacket) {
    // At most 120 ms.
    nanoseconds = UInt32(clamping: packet.duration * 1_000_000 / 48)
    channelCount = UInt8(clamping: packet.channels)
    isSilent = packet.isSilence
    opus = packet
  }
}

/// What the header of a video frame says.
package struct VideoHeader: Sendable, Hashable {
  /// Whether the frame can be decoded without an earlier one.
  package let isKeyframe: Bool
  /// Whether the frame is shown, or is only a reference for later ones.
  package let isShown: Bool
  /// Whether the frame follows a keyframe in decoding but refers to frames before it, so that it cannot be decoded if decoding begins
  /// with the keyframe: a picture of H.265 that is called RASL.
  package let isSkippedLeading: Bool
  /// Which frames may follow a keyframe in decoding and be shown before it.
  package let leading: LeadingFrames

  /// Frames that follow a keyframe in decoding and are shown before it.
  package enum LeadingFrames: Sendable, Hashable {
    case none
    /// Those that can be decoded with it: of H.265 those called RADL.
    case decodable
    /// Also those that refer to frames before it: the keyframe is a picture of H.265 that is called CRA.
    case any
  }

  /// The number of its layer frames that the receiver marked as not shown, at most 255.
  package let hiddenLayers: UInt8
  /// Width and height, 0 if the frame does not tell them.
  private let width: UInt32
  private let height: UInt32

  /// The size, of keyframes and of VP9 frames whose references are known; nil if the frame does not tell it.
  package var size: VideoSize? { width == 0 ? nil : VideoSize(width: Int(width), height: Int(height)) }

  /// - Parameter size: in pixels; nil if the frame does not tell it.
  package init(
    isKeyframe: Bool, size: VideoSize?, isShown: Bool = true, isSkippedLeading: Bool = false,
    leading: LeadingFrames = .none, hiddenLayers: Int = 0
  ) {
    self.isSkippedLeading = isSkippedLeading
    self.leading = leading
    self.hiddenLayers = UInt8(clamping: hiddenLayers)
    self.isKeyframe = isKeyframe
    self.isShown = isShown
    width = UInt32(clamping: size?.width ?? 0)
    height = UInt32(clamping: size?.height ?? 0)
  }

  /// Nil if a side of a keyframe is 0.
  package init?(_ header: VP8FrameHeader) {
    if let size = header.size, size.width == 0 || size.height == 0 { return nil }
    self.init(
      isKeyframe: header.isKeyframe, size: header.size.map { VideoSize(width: Int($0.width), height: Int($0.height)) },
      isShown: header.isShown)
  }

  package init(_ header: H264FrameHeader) {
    self.init(
      isKeyframe: header.isKeyframe, size: header.size.map { VideoSize(width: $0.width, height: $0.height) })
  }

  /// The header of a VP9 frame, or of the frames in a superframe, of which the last one is shown.
  ///
  /// Nil if the first one cannot be parsed, or if a keyframe has no known size.
  package init?(_ superframe: VP9Superframe) {
    guard let first = superframe.frames.first, let header = try? VP9FrameHeader(parsing: first) else { return nil }
    var references = VP9ReferenceSizes()
    let output = superframe.output(references: &references)
    let size = header.isKeyframe ? output.size.map { VideoSize(width: $0.width, height: $0.height) } : nil
    if header.isKeyframe, size == nil { return nil }
    self.init(isKeyframe: header.isKeyframe, size: size, isShown: output.isShown)
  }
}
