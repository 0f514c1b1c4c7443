import CSoxr

/// Resamples audio to 48 kHz with libsoxr in high quality. The output begins where the input does: the filter's delay
/// is compensated.
final class Resampler {
  private let handle: OpaquePointer
  private let channels: Int
  private let rate: Int

  init(rate: Int, channels: Int) throws(InputError) {
    var error: soxr_error_t?
    guard let handle = soxr_create(Double(rate), 48_000, UInt32(clamping: channels), &error, nil, nil, nil) else {
      throw InputError("its sample rate of \(rate) Hz cannot be converted to 48000 Hz")
    }
    self.handle = handle
    self.channels = channels
    self.rate = rate
  }

  deinit {
    soxr_delete(handle)
  }

  /// Converts a number of samples to ticks of 48 kHz, rounded up.
  static func ticks(of frames: Int64, rate: Int) -> Int64 {
    let (whole, rest) = frames.quotientAndRemainder(dividingBy: Int64(rate))
    return whole * 48_000 + (rest * 48_000 + Int64(rate) - 1) / Int64(rate)
  }

  /// Resamples whole sample frames; returns the output that is available.
  func process(_ samples: [Float]) -> [Float] {
    let frames = samples.count / channels
    var output: [Float] = []
    samples.withUnsafeBufferPointer { input in
      var position = 0
      while position < frames {
        var taken = 0
        let start = input.baseAddress.map { $0 + position * channels }
        let more = give(start, frames - position, &taken)
        output += more
        position += taken
        if taken == 0, more.isEmpty { break }
      }
    }
    return output
  }

  /// Ends the input and returns the remaining output.
  func finish() -> [Float] {
    var output: [Float] = []
    var taken = 0
    while true {
      let more = give(nil, 0, &taken)
      if more.isEmpty { return output }
      output += more
    }
  }

  private func give(_ input: UnsafePointer<Float>?, _ frames: Int, _ taken: inout Int) -> [Float] {
    let room = 4_096
    return [Float](unsafeUninitializedCapacity: room * channels) { buffer, count in
      var done = 0
      let error = soxr_process(handle, input, frames, &taken, buffer.baseAddress, room, &done)
      count = error == nil ? done * channels : 0
    }
  }
}
