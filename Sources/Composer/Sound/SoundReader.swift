internal import Codecs
internal import Composition
internal import FileSource
internal import Inspection
internal import Media
internal import MediaWorker

/// Decodes the sound of one recording, through all its files: every packet at its sample, two channels at 48 kHz.
///
/// A packet that cannot be decoded is silence. A gap of the recording has no samples.
final class SoundReader {
  /// The part of the recording that is heard, in samples from the composition's zero.
  let range: Range<Int64>
  private let offset: Int64
  private let track: RecordedTrackReader
  private let worker: () -> MediaWorker
  private var decoder: AudioDecoder?
  private var placement = SoundPlacement()
  /// The sample at which the next packet begins if there is no gap.
  private var expected: Int64?
  /// A run that follows the one that was returned last.
  private var waiting: SoundRun?
  private var hasEnded = false

  private(set) var packets = 0
  private(set) var undecodedPackets = 0
  /// Files that could not be read, or not to their end, a sentence each.
  private(set) var problems: [String] = []

  /// What is decoded before the part that is heard, so that a decoder has its state: 1 s, in samples.
  private static let preroll = Int64(SoundClock.rate)
  /// A file that fails in more places than this is given up.
  private static let maximumProblems = 20

  /// Opens the files and reads them through once.
  ///
  /// - Parameter worker: returns the worker that decodes what is not decoded in this process.
  init(_ recording: PlannedRecording, worker: @escaping () -> MediaWorker) {
    range = SoundClock.sample(at: recording.range.lowerBound)..<SoundClock.sample(at: recording.range.upperBound)
    offset = recording.offset
    self.worker = worker
    var problems: [String] = []
    let opened = RecordedTrack.opening(.audio, of: recording.recording, problems: &problems)
    track = RecordedTrackReader(opened, isForListening: true)
    self.problems = problems
  }

  /// Returns the next sound within the range, which begins where the last one ends or later; nil at the end.
  func next() -> SoundRun? {
    while true {
      if let run = waiting.take() ?? decodeNext() {
        if let heard = run.clamped(to: range) { return heard }
        if run.start >= range.upperBound { hasEnded = true }
      } else if hasEnded {
        return nil
      }
    }
  }

  // MARK: Decoding

  /// Returns the sound of the next packet; nil if it has none, or if there is none.
  private func decodeNext() -> SoundRun? {
    if hasEnded { return nil }
    guard let frame = nextFrame() else { return hasEnded ? drain() : nil }
    packets += 1
    let start = SoundClock.sample(at: offset + frame.time)
    let length = Int64(ticks(of: frame))
    guard start + length + Self.preroll >= range.lowerBound else { return nil }
    if start - Self.preroll > range.upperBound {
      hasEnded = true
      return drain()
    }
    var end: SoundRun?
    if decoder?.codec != frame.codec || expected.map({ abs(start - $0) >= Self.gap }) ?? true {
      end = drain()
      prepareDecoder(for: frame.codec)
    }
    expected = start + length
    let run = decode(frame, at: start)
    if let end {
      waiting = run
      return end
    }
    return run
  }

  /// A packet that begins this much after the end of the last one follows a gap, in samples: 2.5 ms.
  private static let gap: Int64 = 120

  private func nextFrame() -> RecordedFrame? {
    do throws(MediaFile.ReadError) {
      if let frame = try track.next() { return frame }
      hasEnded = true
    } catch {
      problems.append("A file of sound ends early: \(error).")
      hasEnded = problems.count > Self.maximumProblems
    }
    return nil
  }

  private func ticks(of frame: RecordedFrame) -> Int {
    let ticks = FrameHeader.ticks(of: frame.content.payload, frame.codec, header: frame.content.header) ?? 0
    return ticks * SoundClock.rate / Int(frame.codec.clockRate)
  }

  /// Makes a decoder where the codec changes. A codec of a lower rate follows silence after each gap; Opus keeps its state, as in a
  /// call.
  private func prepareDecoder(for codec: Codec) {
    if decoder?.codec != codec {
      decoder = try? AudioDecoder(codec, in: codec.needsWorker ? worker() : nil, isPrecise: true)
    } else if decoder?.delay == 0 {
      return
    }
    placement.begin(delay: codec == .opus ? track.preSkip : Int64(decoder?.delay ?? 0))
  }

  private func decode(_ frame: RecordedFrame, at start: Int64) -> SoundRun? {
    guard let decoder, let decoded = try? decoder.decode(frame.content.payload) else {
      undecodedPackets += 1
      return nil
    }
    return placement.place(decoded.samples, at: start)
  }

  /// Returns what raising the rate still holds.
  private func drain() -> SoundRun? {
    guard let expected, let rest = decoder?.drain() else { return nil }
    return placement.place(rest.samples, at: expected)
  }
}
