package import Codecs

/// Audio at 48 kHz that is read in chunks, and again from the start after `rewind`. It is used by one thread.
package protocol AudioInput: AnyObject {
  /// Reads the next chunk.
  ///
  /// - Parameter count: in ticks of 48 kHz.
  /// - Returns: `count` ticks; fewer only at the end, and none after it.
  func read(_ count: Int) throws(InputError) -> AudioSamples

  /// The packets that could not be decoded so far.
  var undecodable: Undecodable { get }

  /// Goes back to the start.
  func rewind() throws(InputError)
}

extension AudioInput {
  package var undecodable: Undecodable { Undecodable() }
}

/// Checked audio that can be opened any number of times.
package struct CheckedAudio: Sendable {
  /// A description, for example `24-bit PCM stereo, 44100 Hz, 2.00 s`.
  package var summary: String
  /// The number of output channels, 1 or 2.
  package var channels: Int
  package var extent: Extent
  package var notes: [String] = []
  package var open: @Sendable (CameraClock) throws(InputError) -> any AudioInput
}

/// Decoded audio that has not been read yet.
struct AudioQueue {
  let channels: Int
  private var samples: [Float] = []
  /// The number of samples already removed from the front.
  private var taken = 0

  init(channels: Int) {
    self.channels = max(1, channels)
  }

  /// The number of queued ticks.
  var count: Int { (samples.count - taken) / channels }

  mutating func append(samples new: some Sequence<Float>) {
    samples.append(contentsOf: new)
  }

  mutating func append(silence ticks: Int) {
    samples.append(contentsOf: repeatElement(0, count: ticks * channels))
  }

  /// Removes `count` ticks from the front, or fewer if there are not as many.
  mutating func take(_ count: Int) -> AudioSamples {
    let wanted = min(samples.count - taken, max(0, count) * channels)
    let output = Array(samples[taken..<taken + wanted])
    taken += wanted
    // The rest is moved to the front only now and then, so that the average cost does not grow with the queue.
    if taken * 2 >= samples.count {
      samples.removeFirst(taken)
      taken = 0
    }
    return AudioSamples(samples: output, channels: channels)
  }
}
