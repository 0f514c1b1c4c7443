import Media

/// Assigns times to video frames, evenly spaced where the file states a constant interval.
///
/// A WebM file rounds each frame's time to a millisecond or so: 30 frames a second are at 0, 33, 67, 100 ms. If the
/// file states the interval between frames and its times agree with it, the interval is used.
package struct VideoTimeline {
  /// How exact the container's times are.
  let timing: ContainerTiming
  /// Whether frames may be stored in another order than that in which they are shown.
  private let mayReorder: Bool
  /// The time of the frame that is shown last.
  private var last: Int64?
  /// The number of frames whose times were before that of the previous frame.
  package private(set) var framesMoved = 0

  package init(timing: ContainerTiming, mayReorder: Bool = false) {
    self.timing = timing
    self.mayReorder = mayReorder
  }

  /// By how much the time of a frame that is shown before an earlier one may go back.
  private static let maximumStepBack = Int64(MediaTimebase.rate)

  /// Frames are at least one tick of the 90 kHz clock apart: the RTP timestamp identifies a frame.
  static let minimumStep: Int64 = MediaTimebase.units(perTickOf: .video)

  /// Returns the time of a frame, in units.
  ///
  /// A frame of a codec that reorders frames may be shown before earlier ones: its time goes back. Apart from that, some live
  /// recorders write a frame whose time is before that of the previous one. It is decoded all the same, because the
  /// frames after it depend on it, and shown directly after the previous one.
  ///
  /// - Parameter time: its time in the container, in units of `MediaTimebase.rate`.
  package mutating func position(_ time: Int64) -> Int64 {
    guard let last else {
      self.last = time
      return time
    }
    let start: Int64
    if let interval = timing.interval, abs(last + interval - time) <= timing.rounding {
      start = last + interval
    } else if time >= last + Self.minimumStep {
      start = time
    } else {
      if time < last - timing.rounding {
        framesMoved += 1
        if mayReorder, last - time <= Self.maximumStepBack { return reordered(time, before: last) }
      }
      start = last + Self.minimumStep
    }
    self.last = start
    return start
  }

  /// Returns the time of a frame that is shown before the one at `last`, in whole intervals from it where they agree.
  private func reordered(_ time: Int64, before last: Int64) -> Int64 {
    guard let interval = timing.interval, interval > 0 else { return time }
    let even = last - (last - time + interval / 2) / interval * interval
    return abs(even - time) <= timing.rounding && even < last ? even : time
  }
}
