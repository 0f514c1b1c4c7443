package import MediaMessages

/// Encodes the sound of a composition in a worker of its own. It is used by one thread that may wait. After an error it is of no use.
package final class SoundEncoder {
  package let settings: SoundEncoderSettings
  /// What a decoder needs before the first packet.
  package let privateData: [UInt8]
  /// The samples of each channel in a packet.
  package let frame: Int
  /// The decoded samples at the start that are not heard: the first packet has the time of minus so many.
  package let delay: Int
  private let worker: MediaWorker
  private let generation: Int

  /// Starts a worker.
  package init(_ settings: SoundEncoderSettings, launcher: MediaLauncher = .foreground) throws(MediaWorkerError) {
    self.settings = settings
    worker = MediaWorker(launcher, for: .encoding)
    let opened = try worker.perform(.trackEncoder(.openSound(settings))) { response, memory in
      TrackOpening(response, memory)
    }
    (privateData, frame, delay) = (opened.0.privateData, opened.0.frame, opened.0.delay)
    generation = opened.generation
  }

  /// The process id of the worker; nil after its end.
  package var id: Int32? { worker.id }

  /// Encodes samples that follow those of the last call.
  ///
  /// - Parameter samples: interleaved, 48 kHz, any number for each channel.
  /// - Returns: packets; their times are samples from the start of the sound, at 48 kHz.
  package func encode(_ samples: [Float]) throws(MediaWorkerError) -> [EncodedPacket] {
    let channels = settings.channels
    let most = TrackEncoderRequest.maximumSamples
    var packets: [EncodedPacket] = []
    var start = 0
    let count = samples.count / channels
    while start < count {
      let part = min(most, count - start)
      packets += try worker.packets(of: .samples(count: part), generation) { memory in
        samples.withUnsafeBytes { bytes in
          let stride = channels * MemoryLayout<Float>.stride
          memory.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[start * stride..<(start + part) * stride]))
        }
      }
      start += part
    }
    return packets
  }

  /// Encodes what the encoder has kept.
  ///
  /// - Returns: the rest of the packets. The last one says how many of its samples are not heard.
  package func finish() throws(MediaWorkerError) -> [EncodedPacket] {
    try worker.packets(of: .finish, generation)
  }

  /// The track of a container for the packets.
  package var track: ContainerSettings.Track {
    .audio(
      settings.codec, sampleRate: SoundEncoderSettings.rate, channels: settings.channels, frame: frame, delay: delay,
      privateData: privateData)
  }
}

extension CompositionEncoder {
  /// The track of a container for the packets.
  package var track: ContainerSettings.Track {
    .video(
      settings.codec, width: settings.width, height: settings.height,
      unit: (settings.denominator, settings.numerator), privateData: privateData, isBT601: true)
  }
}
