package import Media
package import PeerEngine

/// The video frames of one participant since the last keyframe of each stream, and which frames only repeat them. Pure.
///
/// A participant whose frames are those of another one repeats them if that makes no keyframe on request. Those who see it already must
/// not receive them again.
package struct RecentFrames: Sendable {
  /// The maximum number of streams.
  package static let maximumStreams = 16

  private struct Stream {
    var group = GroupOfPicturesCache()
    /// The position of the next frame in the group while it is repeated; nil otherwise.
    var repeated: Int?

    /// Returns whether a keyframe comes sooner after the last frame than the source's own next frame would. All repeated frames come
    /// within the time of one. A file of which every loop begins with the same keyframe is played at its own pace.
    func isInHaste(_ keyframe: EncodedFrame) -> Bool {
      guard group.frames.count > 1, let last = group.frames.last, last.codec == keyframe.codec else { return false }
      let interval = last.time.ticks &- group.frames[group.frames.count - 2].time.ticks
      return keyframe.time.ticks &- last.time.ticks < interval / 4 &* 3
    }
  }

  private var streams: [Int: Stream] = [:]

  package init() {}

  /// What a new viewer needs to decode the next frame: of each stream the frames since its last keyframe, if there are not too many.
  package var groups: [GroupOfPicturesCache] {
    streams.sorted { $0.key < $1.key }.map(\.value.group).filter { !$0.isEmpty }
  }

  /// Adds the next frame.
  ///
  /// - Returns: whether it is new, rather than a repeated one.
  package mutating func add(_ frame: EncodedFrame) -> Bool {
    guard frame.codec.kind == .video, streams[frame.stream] != nil || streams.count < Self.maximumStreams else {
      return true
    }
    var stream = streams.removeValue(forKey: frame.stream) ?? Stream()
    defer { streams[frame.stream] = stream }
    let position = frame.isKeyframe ? (stream.isInHaste(frame) ? 0 : nil) : stream.repeated
    if let position, position < stream.group.frames.count, stream.group.frames[position].payload == frame.payload {
      stream.repeated = position + 1
      return false
    }
    stream.repeated = nil
    stream.group.add(frame)
    return true
  }
}
