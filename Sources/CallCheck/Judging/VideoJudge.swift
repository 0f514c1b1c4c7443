import Codecs
import Media
import MediaWorker
import NIOCore
import Pattern

/// Decodes a peer's frames and measures their content.
struct VideoJudge {
  /// A frame that was decoded and shown.
  struct Outcome {
    /// When it could be seen.
    var seen: Double
    /// The frame that it was decoded from: an earlier one than the last, if the codec reorders frames.
    var frame: EncodedFrame
    /// When that arrived.
    var arrived: Double
    /// The pattern's code on the frame.
    var reading: PatternReading?
    /// A freeze that the frame ended.
    var freeze: FreezeDetector.Freeze?
  }

  /// The maximum number of listed sizes.
  private static let maximumList = 200
  /// The interval, in seconds, between frames that are compared with the painted ones.
  private static let distanceOfComparisons = 0.5
  /// Until the pattern is found, one of this many frames is searched for it.
  private static let searched = 5
  /// The number of frames at the start that are all searched.
  private static let searchedAtStart = 30

  private let worker: MediaWorker
  private var decoders = DecodersByCodec<VideoDecoder>()
  private var contentDetector = VideoContentDetector()
  private var likeness = SSIMEstimator()
  private let reader = PatternReader()
  private var watch = FreezeDetector()
  private var standstills = StandstillClassifier(.video)
  private(set) var frameRateEstimator = FrameRateEstimator()
  private var black = IntervalDetector()
  private var lastTime: MediaTime?
  private var lastSeen: Double?
  private var nextComparison = 0.0
  private var hasUndecodable = false
  private var hasSkipped = false
  private var brightness = 0.0
  private(set) var hasPattern = false
  /// Whether frames say why others before them are missing.
  var knowsCauses = true
  private(set) var thumbnails: ThumbnailStrip
  private(set) var decoded = 0
  private(set) var keyframes = 0
  private(set) var decodeErrors = 0
  /// Why the first frame that could not be decoded could not be, as a clause; nil if all could.
  private(set) var decodeFailure: String?
  /// Frames that were not decoded, because no process decodes them.
  private(set) var unverified = 0
  /// Why the first of them was not, as a clause; nil if there was none.
  private(set) var unverifiedReason: String?
  private(set) var beforeKeyframe = 0
  private(set) var unreadable = 0
  private(set) var sizes: [VideoReport.Size] = []
  private(set) var sizeChanges = 0
  private var size: VideoSize?
  /// Nil while all frames were upright.
  private(set) var orientations: [VideoReport.Orientation]?
  private var orientation = VideoOrientation.upright
  private var firstSeen: Double?
  /// Frames that the decoder keeps, because others are shown before them.
  private var kept: [(number: Int64, frame: EncodedFrame, arrived: Double)] = []
  private var lastNumber: Int64 = 0
  /// More frames than a decoder keeps.
  private static let maximumKept = 64

  /// - Parameter worker: decodes for the peer what is not decoded in this process.
  init(thumbnails: Int, worker: MediaWorker) {
    self.worker = worker
    self.thumbnails = ThumbnailStrip(capacity: thumbnails)
  }

  /// Processes the next frame in decoding order.
  ///
  /// - Parameters:
  ///   - time: when it could be seen, if none had to be shown before it.
  ///   - arrived: when it arrived.
  /// - Returns: the frames that can be seen now, in the order of output.
  mutating func receive(_ frame: EncodedFrame, at time: Double, arrived: Double) -> [Outcome] {
    if frame.isKeyframe { keyframes += 1 }
    if (decoded == 0 && unverified == 0 && kept.isEmpty || decoders.current == nil) && !frame.isKeyframe {
      beforeKeyframe += 1
      return []
    }
    lastNumber &+= 1
    kept.append((lastNumber, frame, arrived))
    if kept.count > Self.maximumKept || !frame.codec.canReorderFrames { kept.removeFirst(kept.count - 1) }
    var outcomes: [Outcome] = []
    do throws(CodecError) {
      // Another codec begins with a keyframe.
      let decoder = try decoders.decoder(of: frame.codec, isStart: frame.isKeyframe) { () throws(CodecError) in
        try VideoDecoder(frame.codec, in: worker)
      }
      // A frame that is not shown is not an error.
      try decoder.decode(frame.payload, time: lastNumber) { view, number in
        outcomes.append(analyze(view, of: takeKept(number) ?? (frame, arrived), now: time))
      }
    } catch {
      kept.removeAll { $0.number == lastNumber }
      if error.isUnavailable {
        unverified += 1
        unverifiedReason = unverifiedReason ?? error.reason
        hasSkipped = true
      } else {
        decodeErrors += 1
        decodeFailure = decodeFailure ?? error.reason
        hasUndecodable = true
      }
    }
    return outcomes
  }

  /// Returns the frames that the decoder keeps at the end of the stream. Another one begins with a keyframe.
  mutating func drain(at time: Double) -> [Outcome] {
    guard !kept.isEmpty, let decoder = decoders.current else { return [] }
    var outcomes: [Outcome] = []
    try? decoder.drain { view, number in
      guard let shown = takeKept(number) else { return }
      outcomes.append(analyze(view, of: shown, now: time))
    }
    kept = []
    return outcomes
  }

  private mutating func takeKept(_ number: Int64) -> (frame: EncodedFrame, arrived: Double)? {
    guard let index = kept.firstIndex(where: { $0.number == number }) else { return nil }
    let (_, frame, arrived) = kept.remove(at: index)
    return (frame, arrived)
  }

  /// Returns when a frame could be seen. A decoder returns frames late that others precede in output; of a recording, whose frames arrive
  /// when they are shown, it has all that it needs.
  private func seen(_ frame: EncodedFrame, arrived: Double, now: Double) -> Double {
    guard frame.codec.canReorderFrames, let lastTime, let lastSeen, arrived < now else { return now }
    let byClock = lastSeen + max(0, frame.time.duration(since: lastTime).seconds)
    return max(arrived, lastSeen, min(now, byClock))
  }

  /// Releases the decoder of a peer that is gone. If the peer rejoins, it begins with a keyframe.
  mutating func release() {
    decoders = DecodersByCodec()
    kept = []
    likeness.release()
  }

  /// Records skipped frames; the next frame is a keyframe.
  mutating func skip(keyframes: Int) {
    hasSkipped = true
    self.keyframes += keyframes
  }

  private mutating func analyze(
    _ view: VideoFrameView, of kept: (frame: EncodedFrame, arrived: Double), now: Double
  ) -> Outcome {
    let (frame, arrived) = kept
    let time = seen(frame, arrived: arrived, now: now)
    var outcome = Outcome(seen: time, frame: frame, arrived: arrived)
    decoded += 1
    note(view.size, at: time)
    note(frame.orientation, at: time)
    let analysis = contentDetector.analyze(view)
    brightness += analysis.brightness
    black.set(analysis.isBlack, at: time)
    outcome.reading = read(view, at: time)
    if thumbnails.wants(at: time) { thumbnails.add(view, at: time) }
    standstills.note(frame.time, at: time)
    let reason = reason(of: frame, at: time)
    if reason == .late { addWait(before: frame, at: time) }
    outcome.freeze = watch.videoFrame(at: time, isSame: analysis.isSame && !analysis.isBlack, reason: reason)
    frameRateEstimator.videoFrame(frame.time, arrived: time, bytes: frame.payload.readableBytes)
    hasUndecodable = false
    hasSkipped = false
    lastTime = frame.time
    lastSeen = time
    return outcome
  }

  private mutating func note(_ now: VideoSize, at time: Double) {
    guard size != now else { return }
    if size != nil { sizeChanges += 1 }
    size = now
    if sizes.count < Self.maximumList {
      sizes.append(.init(time: roundedForReport(time), width: now.width, height: now.height))
    }
  }

  private mutating func note(_ now: VideoOrientation, at time: Double) {
    let first = firstSeen ?? time
    firstSeen = first
    guard orientation != now else { return }
    if orientations == nil { orientations = first < time ? [.init(orientation, at: first)] : [] }
    orientation = now
    if let listed = orientations, listed.count < Self.maximumList { orientations?.append(.init(now, at: time)) }
  }

  /// Records a size in which we sent the pattern.
  mutating func learn(_ size: VideoSize) { likeness.learn(size) }

  private mutating func read(_ view: VideoFrameView, at time: Double) -> PatternReading? {
    guard hasPattern || decoded <= Self.searchedAtStart || decoded.isMultiple(of: Self.searched) else { return nil }
    guard case .success(let reading) = reader.read(view) else {
      if hasPattern { unreadable += 1 }
      return nil
    }
    hasPattern = true
    likeness.learn(view.size)
    if time >= nextComparison {
      nextComparison = time + Self.distanceOfComparisons
      likeness.compare(view, with: reading)
    }
    return reading
  }

  /// Returns the cause of a gap before a frame; nil if it is not known.
  private func reason(of frame: EncodedFrame, at time: Double) -> FreezeReason? {
    if hasSkipped { return .receiverStalled }
    if hasUndecodable { return .undecodable }
    if !knowsCauses { return nil }
    if let gap = frame.gap {
      return switch gap.reason {
      case .lost: .lost
      case .recoveredLate: .recoveredLate
      case .waitingForKeyframe: .waitingForKeyframe
      case .senderPaused, .senderDiscarded, .dtx, .streamEnded, .paused: .senderPaused
      case .muted: .muted
      case .reconnect: .reconnect
      case .diskStalled, .overloaded, .memoryFull: .receiverStalled
      }
    }
    guard let lastTime, let lastSeen else { return .senderPaused }
    // Frames that were produced in quick succession but arrived far apart were delayed by the network.
    let atSender = frame.time.duration(since: lastTime).seconds
    return atSender >= 0 && atSender < (time - lastSeen) * 0.6 ? .late : .senderPaused
  }

  /// Notes that a frame arrived much later than its timestamp suggests.
  private mutating func addWait(before frame: EncodedFrame, at time: Double) {
    guard let lastTime, let lastSeen else { return }
    let start = lastSeen + frame.time.duration(since: lastTime).seconds
    guard time - start > AudioJudge.latest else { return }
    standstills.add(
      start: start, duration: time - start, previousArrived: lastSeen, next: frame.time, standstill: nil)
  }

  /// Whether the cause of a freeze is not yet certain.
  var hasUndecidedWaits: Bool { standstills.hasUndecided }

  /// Corrects the causes of freezes in which the sender's media clock stood still, as far as they are known.
  ///
  /// - Parameter clock: the sender's clock, by the reports and frames until now.
  mutating func settle(at time: Double, isFinal: Bool = false, by clock: SenderClock) {
    for wait in standstills.settle(at: time, isFinal: isFinal, by: clock) {
      guard let standstill = wait.standstill, standstill * 2 >= wait.duration else { continue }
      watch.senderWasPaused(until: wait.end, duration: standstill)
    }
  }

  /// Accounts for the end of the stream. If frames follow, nothing between is measured.
  mutating func end(at time: Double, clock: SenderClock) -> FreezeDetector.Freeze? {
    settle(at: time, isFinal: true, by: clock)
    black.set(false, at: time)
    frameRateEstimator.end()
    lastTime = nil
    lastSeen = nil
    return watch.end(at: time)
  }

  var freezes: IntervalLog { watch.freezes }
  var frozen: IntervalLog { watch.frozen }
  var blackIntervals: IntervalLog { black.log }
  var quality: PatternReport.FrameQuality? { likeness.quality }
  var meanBrightness: Double { brightness / Double(max(1, decoded)) }
}

extension VideoReport.Orientation {
  fileprivate init(_ orientation: VideoOrientation, at time: Double) {
    self.init(time: roundedForReport(time), rotation: orientation.rotation, mirrored: orientation.isMirrored)
  }
}

extension VideoReport.Orientation: CustomStringConvertible {
  /// A clause, for example `turned by 90°`.
  public var description: String {
    (VideoOrientation(rotation: rotation, isMirrored: mirrored) ?? .upright).description
  }
}
