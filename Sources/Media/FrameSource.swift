/// A source of frames in real time: a camera, or a file played like one.
public protocol FrameSource: Sendable {
  /// The kinds of media that it sends.
  var kinds: Set<MediaKind> { get }
  /// The codec of all frames of each kind that it sends.
  var codecs: [MediaKind: Codec] { get }
  /// Whether it makes keyframes on request and adapts its bitrate, as a live encoder does.
  var isLive: Bool { get }
  /// A description in one text line.
  var summary: String { get }
  /// What a user may want to know although it can be played, each as a sentence.
  var notes: [String] { get }
  /// Why playback ended early, as a sentence; set before the stream of frames ends.
  var failure: String? { get async }

  /// Starts playback. Each frame is sent when it is due; its `time` counts from the start, on one clock for both
  /// tracks.
  func frames() async -> AsyncStream<EncodedFrame>

  /// Requests a keyframe for a viewer. Requests are combined. Does nothing if the source is not live.
  func requestKeyframe()

  /// Adapts to the network path of the viewer with the least bandwidth. Does nothing if the source is not live.
  ///
  /// - Parameters:
  ///   - bitrate: the capacity of the path for all tracks together, in bits a second.
  ///   - fractionLost: the fraction of packets that it loses, 0 to 1.
  func adapt(toBitrate bitrate: Int, fractionLost: Double)

  /// Returns to the initial bitrate and quality, because no viewer is left: the next one starts like the first. Does
  /// nothing if the source is not live.
  func reset()
}

extension FrameSource {
  /// VP8 and Opus.
  public var codecs: [MediaKind: Codec] {
    Dictionary(uniqueKeysWithValues: kinds.map { ($0, .preferred(for: $0)) })
  }

  public func reset() {}
}
