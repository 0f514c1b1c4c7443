import Media
import NIOCore
import PeerEngine
import TestSupport
import Testing

extension EnginePair {
  /// Starts playing on both sides, until ``stopPlaying()``.
  mutating func play(
    seed: UInt64 = 3, shape: SyntheticMedia.Shape = .usual, kinds: Set<MediaKind> = [.audio, .video]
  ) {
    alice.source = SyntheticFrameSource(seed: seed, start: now, shape: shape, kinds: kinds)
    bob.source = SyntheticFrameSource(seed: seed + 1, start: now, shape: shape, kinds: kinds)
  }

  /// Stops playing, and returns the frames that each side has sent.
  mutating func stopPlaying() -> (fromAlice: [EncodedFrame], fromBob: [EncodedFrame]) {
    defer {
      alice.source = nil
      bob.source = nil
    }
    return (alice.source?.sent ?? [], bob.source?.sent ?? [])
  }

  /// Sends audio and video from both sides for an interval; returns the frames that each side sent.
  mutating func exchangeMedia(for span: Duration, seed: UInt64 = 3) -> (
    fromAlice: [EncodedFrame], fromBob: [EncodedFrame]
  ) {
    play(seed: seed)
    run(for: span - .milliseconds(1))
    defer { run(for: .milliseconds(1)) }
    return stopPlaying()
  }
}

extension EnginePair.Side {
  /// Returns the frames delivered since a time, each with its delay since it was handed to the sender.
  func received(
    _ codec: Codec, since moment: MonotonicInstant, of sent: [EncodedFrame]
  ) -> [(time: MonotonicInstant, frame: EncodedFrame, age: Duration)] {
    let originals = sent.filter { $0.codec == codec }
    return zip(frameTimes, frames).compactMap { time, frame in
      guard frame.codec == codec, time >= moment, let number = frame.madeUpNumber, originals.indices.contains(number)
      else { return nil }
      return (time, frame, time - originals[number].arrived)
    }
  }

  /// Expects that every delivered frame is a frame that was sent, byte for byte, and can be decoded: it is a keyframe or
  /// directly follows the frame before it.
  func expectUnbroken(
    _ sent: [EncodedFrame], from first: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for codec in [Codec.opus, .vp8] {
      let originals = sent.filter { $0.codec == codec }
      var last: Int?
      var wrong = 0
      for frame in frames.dropFirst(first) where frame.codec == codec {
        let number = frame.madeUpNumber
        let isSame = number.map { originals.indices.contains($0) && originals[$0].payload == frame.payload } ?? false
        let follows = codec == .opus || frame.isKeyframe || number == last.map { $0 + 1 }
        if !isSame || !follows { wrong += 1 }
        last = number
      }
      #expect(
        wrong == 0, "\(wrong) \(codec) frames are not those sent, or cannot be decoded.", sourceLocation: sourceLocation
      )
      let times = frames.dropFirst(first).filter { $0.codec == codec }.map(\.time.ticks)
      #expect(
        zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "The times of \(codec) frames do not increase.",
        sourceLocation: sourceLocation)
    }
  }
}
