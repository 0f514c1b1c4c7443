internal import Codecs
internal import Composition
internal import FileSource
internal import Inspection
internal import Media
internal import MediaWorker
internal import NIOCore

/// The video of a tile: reads its recordings in order, and decodes in a worker of its own up to a time.
///
/// Of a tile that is not shown only frames since the last keyframe are kept, and few of them. Where a keyframe follows soon, its worker ends
/// after a while. Otherwise it goes on decoding: senders of calls may send no further keyframe for hours, and to decode all that again
/// each time when the tile is shown would take longer.
final class StreamFrames {
  /// The newest decoded frame.
  let picture = StoredPicture()
  private(set) var decodedFrames = 0
  /// Frames that could not be decoded.
  private(set) var undecodedFrames = 0
  /// Times of which frames could not be decoded, in order; at most ``PictureLoss/maximumCount``.
  private(set) var losses: [PictureLoss] = []
  /// Files that could not be read, or not to their end, a sentence each.
  private(set) var problems: [String] = []

  private struct Opened {
    let recording: PlannedRecording
    let track: RecordedTrack
    var schedule: DecodingSchedule
    /// How many frames were read, and which of them are the last keyframes that are due.
    var read = 0
    var keyframes: [Int] = []
    /// Whether frames of it were decoded.
    var hasStarted = false
    var isAtEnd = false
    /// Whether the decoder has returned all that it keeps.
    var isDrained = false
    var failures = 0
  }

  /// A frame, when it is to be decoded, and when it is shown.
  private struct Due {
    var time: Int64
    var shown: Int64
    var frame: RecordedFrame
  }

  /// A keyframe that was taken and is shown later, because frames before it are.
  private struct ComingKeyframe {
    /// How many frames were read before it.
    var index: Int
    var shown: Int64
    /// Where it is in `pending`; nil if it is not there.
    var pending: Int?
  }

  private let recordings: [PlannedRecording]
  private let keepsDecoding: Bool
  /// The ends of pauses of the recording: no frame of before may be shown after one.
  private var pauses: ArraySlice<(start: Int64, end: Int64)>
  private var pauseEnd = Int64.min
  private var nextRecording = 0
  private var current: Opened?
  /// The frame that is due next.
  private var following: Due?
  /// Frames that are due and not decoded: what follows the last decoded frame, or a keyframe with what follows it.
  private var pending: [Due] = []
  private var pendingBytes = 0
  private var coming: ComingKeyframe?
  /// Pictures that a decoder returned before they are shown.
  private var later: [(shown: Int64, picture: StoredPicture)] = []
  /// How the pictures that the decoder returns are turned, from the time on from which that applies.
  private var turns: [(from: Int64, orientation: VideoOrientation)] = []
  /// The time of the last call.
  private var now = Int64.min
  /// Whether frames since the last keyframe must be read again, because they were not kept, or the decoder has forgotten them.
  private var mustReadAgain = false
  private var worker: MediaWorker?
  private var decoder: VideoDecoder?
  private var lastShown = Int64.min
  private var earlierCrashes = 0
  private var loss: PictureLoss?
  /// Whether frames up to the next keyframe may refer to one that could not be decoded. They would be decoded without an error, to pictures
  /// that nobody sent.
  private var dependsOnLoss = false
  /// Why nothing can be decoded, whatever the frames are: then nothing is composed.
  private(set) var failure: ComposerFailure?
  /// The time of the frame that was taken last, or of the start of its recording.
  private var lastTaken = Int64.min
  /// Frames of before are counted by the part of the output that they belong to.
  private let countsFrom: Int64

  /// The maximum size of the frames that are kept.
  private static let maximumPending = 512 << 10
  /// How long the worker of a tile that is not shown is kept, in units of `MediaTimebase.rate`.
  private static let patience = 2 * Int64(MediaTimebase.rate)
  /// A recording that fails in more places than this is given up.
  private static let maximumFailures = 20
  private static let maximumLosses = PictureLoss.maximumCount
  /// Up to how many keyframes before the last one are tried where nothing can be decoded from that one on.
  private static let maximumKeyframes = 8

  /// - Parameters:
  ///   - keepsDecoding: whether frames since a keyframe that is long ago are decoded while the tile is not shown.
  ///   - countsFrom: frames of before are decoded where later ones need them, and are not counted.
  init(_ tile: PlannedTile, keepsDecoding: Bool, countsFrom: Int64) {
    self.keepsDecoding = keepsDecoding
    self.countsFrom = countsFrom
    recordings = tile.hasVideo ? tile.recordings.sorted { $0.range.lowerBound < $1.range.lowerBound } : []
    pauses = tile.spans.filter { $0.state == .nameTile(.recordingPaused) }.map { ($0.start, $0.end) }[...]
  }

  /// How often a process that decoded ended.
  var allCrashes: Int { earlierCrashes + (worker?.crashes ?? 0) }

  /// Makes the picture the newest frame that is not later than a time. The times of the calls ascend.
  ///
  /// - Parameter isShown: whether the picture is needed.
  func advance(to time: Int64, isShown: Bool) {
    now = time
    while let pause = pauses.first, pause.start <= time {
      pauseEnd = pause.end
      pauses.removeFirst()
      picture.clear()
      later.removeAll { $0.shown < pauseEnd }
      forget()
    }
    showLater()
    while let due = next(notAfter: time) { take(due, isShown: isShown) }
    if isShown {
      lastShown = time
      catchUp()
      drain()
    } else if worker != nil, time - lastShown > Self.patience {
      release()
    }
  }

  // MARK: Reading

  /// Takes the next frame if it is due.
  private func next(notAfter time: Int64) -> Due? {
    while true {
      if let due = following {
        guard due.time <= time else { return nil }
        following = nil
        return due
      }
      if current?.isAtEnd ?? true {
        guard nextRecording < recordings.count, recordings[nextRecording].range.lowerBound <= time else { return nil }
        begin(recordings[nextRecording])
        nextRecording += 1
        continue
      }
      guard let offset = current?.recording.offset, let end = current?.recording.range.upperBound,
        let (due, frame) = read()
      else {
        current?.isAtEnd = true
        continue
      }
      // What follows belongs to a later recording, or to nobody.
      if offset + due >= end {
        current?.isAtEnd = true
      } else {
        following = Due(time: offset + due, shown: offset + frame.time, frame: frame)
      }
    }
  }

  private func begin(_ recording: PlannedRecording) {
    forget()
    close()
    coming = nil
    let track = RecordedTrack.opening(
      .video, of: recording.recording, takesWhatIsLeft: true, problems: &problems)
    current = Opened(recording: recording, track: track, schedule: DecodingSchedule(track))
    mustReadAgain = false
    lastTaken = recording.range.lowerBound
  }

  private func read() -> (due: Int64, frame: RecordedFrame)? {
    while current != nil, (current?.failures ?? 0) <= Self.maximumFailures {
      do throws(MediaFile.ReadError) {
        guard let frame = try current?.schedule.next() else { return nil }
        current?.read += 1
        return frame
      } catch {
        current?.failures += 1
        let name = current?.recording.recording.manifest.map { RecordedName.shown($0.path) } ?? "a recording"
        problems.append("A file of “\(name)” cannot be read to its end: \(error).")
      }
    }
    return nil
  }

  private func take(_ due: Due, isShown: Bool) {
    if due.frame.content.followsDamage {
      add(PictureLoss(start: lastTaken, end: max(lastTaken, due.time), cause: .damagedFile))
    }
    lastTaken = due.time
    if due.frame.content.isKeyframe {
      let index = (current?.read ?? 1) - 1
      coming = ComingKeyframe(index: index, shown: due.shown, pending: pending.count)
    }
    if let keyframe = coming, keyframe.shown <= due.time { begin(with: keyframe) }
    // A picture of before a pause must not be the reference of a later one.
    guard due.shown >= pauseEnd || due.frame.content.isKeyframe else { return }
    guard !mustReadAgain || coming?.pending != nil else { return }
    pending.append(due)
    pendingBytes += due.frame.content.payload.readableBytes
    guard pendingBytes > Self.maximumPending, pending.count > 1 else { return }
    if canGoOn(isShown: isShown) { catchUp() } else { forget() }
  }

  /// Begins with a keyframe: nothing before it is needed any more.
  private func begin(with keyframe: ComingKeyframe) {
    coming = nil
    if let first = keyframe.pending {
      for due in pending.prefix(first) { pendingBytes -= due.frame.content.payload.readableBytes }
      pending.removeFirst(min(first, pending.count))
      mustReadAgain = false
    }
    current?.keyframes.append(keyframe.index)
    if (current?.keyframes.count ?? 0) > Self.maximumKeyframes { current?.keyframes.removeFirst() }
  }

  /// Whether frames that are too many to be kept can and should be decoded.
  private func canGoOn(isShown: Bool) -> Bool {
    if isShown { return decoder != nil }
    guard keepsDecoding, lastShown > .min else { return false }
    return decoder != nil || pending.first?.frame.content.isKeyframe ?? false
  }

  /// Lets go of the frames that are kept.
  private func forget() {
    removePending()
    mustReadAgain = true
  }

  private func removePending() {
    pending.removeAll(keepingCapacity: true)
    pendingBytes = 0
    coming?.pending = nil
  }

  // MARK: Decoding

  private func catchUp() {
    guard mustReadAgain || !pending.isEmpty, let current else { return }
    let isFirst = !current.hasStarted
    self.current?.hasStarted = true
    if mustReadAgain {
      readAgain(from: current.keyframes.last ?? 0)
    } else {
      for due in pending { decode(due) }
    }
    removePending()
    // A part that begins here must show what it would show if the part before it had been made by the same process.
    if isFirst, picture.image == nil {
      for keyframe in current.keyframes.dropLast().reversed() where picture.image == nil {
        readAgain(from: keyframe)
      }
    }
  }

  /// Decodes from a keyframe up to the frame that was taken last.
  private func readAgain(from keyframe: Int) {
    mustReadAgain = false
    guard let current else { return }
    decoder = nil
    turns.removeAll()
    later.removeAll()
    self.current?.isDrained = false
    // The frame that is due next has been read as well.
    let end = current.read - (following == nil ? 0 : 1)
    var schedule = DecodingSchedule(current.track)
    var (index, failures) = (0, 0)
    while index < end, failures <= Self.maximumFailures {
      do throws(MediaFile.ReadError) {
        guard let (due, frame) = try schedule.next() else { return }
        let offset = current.recording.offset
        if offset + due >= current.recording.range.upperBound { return }
        if index >= keyframe, offset + frame.time >= pauseEnd || frame.content.isKeyframe {
          decode(Due(time: offset + due, shown: offset + frame.time, frame: frame))
        }
        index += 1
      } catch {
        failures += 1
      }
    }
  }

  private func decode(_ due: Due) {
    if due.frame.content.isKeyframe { dependsOnLoss = false }
    if dependsOnLoss {
      if due.time >= countsFrom { undecodedFrames += 1 }
      return
    }
    let crashes = allCrashes
    do throws(CodecError) {
      let decoder = try decoder(for: due.frame.codec)
      if due.time >= countsFrom { decodedFrames += 1 }
      note(due.frame.content.orientation, from: due.shown)
      try decoder.decode(due.frame.content.payload, time: due.shown) { show($0, at: $1) }
      endLoss(at: due.time)
    } catch {
      if due.time >= countsFrom { undecodedFrames += 1 }
      dependsOnLoss = VideoDecoder.hidesLoss(of: due.frame.content.payload, due.frame.codec)
      if let reason = DecodingFailure.reason(error, in: worker, isCrash: allCrashes > crashes) { failure = reason }
      if loss == nil { loss = PictureLoss(start: due.time, end: nil, cause: .undecodable) }
      if allCrashes > crashes { loss?.cause = .decoderCrashed }
    }
  }

  /// Notes how pictures are turned from a time on.
  private func note(_ orientation: VideoOrientation, from shown: Int64) {
    guard turns.last?.orientation != orientation else { return }
    turns.append((shown, orientation))
    // A decoder keeps no pictures of files before the last.
    if turns.count > 2 { turns.removeFirst() }
  }

  /// Takes a decoded picture, which is shown now or later.
  private func show(_ view: VideoFrameView, at shown: Int64) {
    guard shown >= pauseEnd else { return }
    let orientation = turns.last { $0.from <= shown }?.orientation ?? turns.first?.orientation ?? .upright
    if shown <= now { return picture.store(view, turned: orientation) }
    let kept = StoredPicture()
    kept.store(view, turned: orientation)
    later.append((shown, kept))
  }

  /// Shows the newest of the pictures that were decoded before.
  private func showLater() {
    guard let newest = later.last(where: { $0.shown <= now }) else { return }
    picture.store(newest.picture.image)
    later.removeAll { $0.shown <= now }
  }

  /// Takes what the decoder keeps at the end of a recording.
  private func drain() {
    guard let current, current.isAtEnd, !current.isDrained, current.schedule.keepsFrames, let decoder else { return }
    self.current?.isDrained = true
    try? decoder.drain { show($0, at: $1) }
  }

  private func endLoss(at time: Int64?) {
    guard var ended = loss.take() else { return }
    ended.end = time
    add(ended)
  }

  private func add(_ loss: PictureLoss) {
    if losses.count < Self.maximumLosses { losses.append(loss) }
  }

  private func decoder(for codec: Codec) throws(CodecError) -> VideoDecoder {
    if let decoder, decoder.codec == codec { return decoder }
    let worker = worker ?? MediaWorker(.foreground, hasTime: true)
    self.worker = worker
    let made = try VideoDecoder(codec, in: worker, prefersWorker: true, decodesHere: false)
    decoder = made
    return made
  }

  /// Ends the worker of a tile that is not shown, if what it knows can be had again from frames that are kept.
  private func release() {
    let isKept = pending.first?.frame.content.isKeyframe ?? false
    if keepsDecoding, !isKept { return }
    close()
    if !isKept { forget() }
  }

  private func close() {
    endLoss(at: nil)
    earlierCrashes += worker?.crashes ?? 0
    decoder = nil
    worker = nil
  }

  /// What was lost so far, the last one also if it lasts.
  var allLosses: [PictureLoss] { losses + [loss].compactMap(\.self) }
}
