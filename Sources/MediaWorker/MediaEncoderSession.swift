package import MediaMessages

/// An H.264 encoder in a worker of its own. Each call waits for the worker: it is used by one thread that may wait.
package final class MediaEncoderSession {
  private let worker: MediaWorker
  private let settings: EncoderSettings
  /// The process that has the encoder; nil before the first frame and after a crash.
  private var generation: Int?

  /// Starts a worker.
  package init(_ settings: EncoderSettings, launcher: MediaLauncher = .foreground) throws(MediaWorkerError) {
    worker = MediaWorker(launcher)
    self.settings = settings
    generation = try open()
  }

  private func open() throws(MediaWorkerError) -> Int {
    try worker.perform(.encoder(.open(settings))) { response, _ in
      if case .done = response { true } else { nil }
    }.1
  }

  /// Encodes a frame.
  ///
  /// After a crash there is a new encoder, whose first frame is a keyframe.
  ///
  /// - Parameters:
  ///   - time: in ticks of 90 kHz, above that of the last frame.
  ///   - bitrate: from this frame on, in bits a second.
  ///   - write: writes the planes of the frame one after the other, without padding.
  ///   - read: reads the encoded frame, each value once.
  /// - Returns: nil if the encoder returned no frame.
  package func encode<Result>(
    time: Int64, bitrate: Int, isKeyframe: Bool, _ write: (UnsafeMutableRawBufferPointer) -> Void,
    _ read: (EncoderOutput, UnsafeRawBufferPointer) -> Result
  ) throws(MediaWorkerError) -> Result? {
    while true {
      let current: Int
      if let generation { current = generation } else { current = try open() }
      generation = current
      do throws(MediaWorkerError) {
        return try worker.perform(
          .encoder(.encode(time: time, bitrate: bitrate, isKeyframe: isKeyframe)), of: current, write: write
        ) { response, memory -> Result?? in
          switch response {
          case .done: .some(nil)
          case .encoded(let output) where output.bytes <= memory.count:
            .some(read(output, UnsafeRawBufferPointer(rebasing: memory[..<output.bytes])))
          default: nil
          }
        }.0
      } catch {
        guard case .ended = error else { throw error }
        generation = nil
      }
    }
  }
}
