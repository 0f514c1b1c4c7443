/// Something that is played as if it were a camera.
public protocol FrameSource: Sendable {
  /// The kinds of media that it gives.
  var kinds: Set<MediaKind> { get }
  /// Whether it makes keyframes when they are requested and follows a bitrate, as a live encoder does.
  var isLive: Bool { get }
  /// What it is, in one line.
  var summary: String { get }
  /// What a user may want to know although it can be played, each as a sentence.
  var remarks: [String] { get }
  /// Why playing ended before its time, as a sentence; set before the stream of frames ends.
  var failure: String? { get async }

  /// Starts to play, now. Frames come when they are due; their `time` counts from the start, on one clock for both tracks.
  func frames() async -> AsyncStream<EncodedFrame>

  /// A viewer needs a keyframe. Requests are joined; nothing happens if the source is not live.
  func requestKeyframe()

  /// Follows the line of the viewer who has the worst. Nothing happens if the source is not live.
  ///
  /// - Parameters:
  ///   - bitrate: what the path carries, all tracks together, in bits a second.
  ///   - fractionLost: the share of packets that it loses, 0 to 1.
  func adapt(toBitrate bitrate: Int, fractionLost: Double)

  /// Nobody watches any more; anyone who comes next is sent what the first one was. Nothing happens if the source is not live.
  func reset()
}

extension FrameSource {
  public func reset() {}
}
