import FileSource
import Media
import NIOCore

/// A frame of a recording, on the recording's own time line.
struct RecordedFrame {
  /// When it begins to be shown or heard, in units of `FileTime.rate` since the recording's start.
  var time: Int64
  var content: FileFrame
  /// What was missing before it, by the manifest.
  var gap: MediaGap?

  /// As a peer would have sent it.
  ///
  /// - Parameter arrival: when it is taken to have come.
  func encoded(owner: ParticipantID, arrival: ContinuousClock.Instant) -> EncodedFrame {
    let codec: Codec = content.kind == .video ? .vp8 : .opus
    let unit = FileTime.units(perTickOf: content.kind)
    // Rounded down, before the start as well as after it.
    let ticks = time >= 0 ? time / unit : -((unit - 1 - time) / unit)
    return EncodedFrame(
      owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: content.payload,
      isKeyframe: content.isKeyframe, size: content.size, arrival: arrival, gap: gap)
  }
}
