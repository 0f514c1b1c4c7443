import MediaMessages
import MediaWorker
import NIOCore

/// Decodes G.711 by a table, or G.722 in a worker: one channel, whose rate is raised to 48 kHz.
final class TelephoneDecoder {
  enum Source {
    /// The value of each octet, at 8 kHz.
    case table([Float])
    /// 16 kHz.
    case worker(StreamDecoder)
  }

  private let name: String
  private let source: Source
  private let channels: Int
  private var upsampler: AudioUpsampler
  private var extrapolation = AudioExtrapolation()
  /// Octets that short packets may still count more than they have.
  private var allowance = TelephoneDecoder.maximumAllowance

  /// - Parameters:
  ///   - name: the codec's, for errors.
  ///   - channels: the number of output channels, 1 or 2, which have the same samples.
  ///   - isPrecise: whether the rate is raised by a steeper filter, of four times the delay and the time.
  init(_ name: String, _ source: Source, channels: Int, isPrecise: Bool = false) {
    self.name = name
    self.source = source
    self.channels = channels
    upsampler =
      switch source {
      case .table: AudioUpsampler(factor: 6, delay: isPrecise ? 32 : 8)
      case .worker: AudioUpsampler(factor: 3, delay: isPrecise ? 32 : 8)
      }
  }

  /// By how much the output is later than the input, in ticks of 48 kHz.
  var delay: Int { upsampler.delay }

  /// Returns the end of what was decoded, ``delay`` ticks, and forgets it.
  func drain() -> AudioSamples { spread(upsampler.drain()) }

  func decode(_ packet: ByteBuffer) throws(CodecError) -> AudioSamples {
    let action = "decode a packet of \(name) of \(packet.readableBytes) bytes"
    guard (1...Self.maximumOctets).contains(packet.readableBytes) else {
      throw CodecError(action, "it does not have 1 to \(Self.maximumOctets) bytes")
    }
    let samples: [Float]
    switch source {
    case .table(let values): samples = packet.readableBytesView.map { values[Int($0)] }
    case .worker(let decoder):
      guard mayAsk(for: packet.readableBytes) else {
        throw CodecError(action, "it is one of too many short packets", isUnavailable: true)
      }
      do throws(MediaWorkerError) {
        samples = try decoder.decode(packet, wantsOutput: true, isStart: true, Self.samples)
      } catch {
        throw CodecError(action, worker: error)
      }
    }
    let raised = upsampler.raise(samples)
    extrapolation.note(raised)
    return spread(raised)
  }

  /// Whether the worker is asked for a packet. Each request costs as much as one of ``minimumOctets``, whose time the packets must have: a
  /// packet can have an octet, which is 1/8 ms.
  private func mayAsk(for octets: Int) -> Bool {
    let allowed = min(Self.maximumAllowance, allowance + octets)
    let cost = max(octets, Self.minimumOctets)
    allowance = cost <= allowed ? allowed - cost : allowed
    return cost <= allowed
  }

  /// 2.5 ms, as in the shortest packets of Opus.
  private static let minimumOctets = 20
  /// 1 s.
  private static let maximumAllowance = 8_000

  /// Reads what the worker decoded; nil if that cannot be G.722.
  private static func samples(_ response: MediaResponse.Body, _ memory: UnsafeRawBufferPointer) -> [Float]? {
    guard case .audio(let audio) = response, audio.channels == 1, audio.count == 0 || audio.rate == 16_000,
      audio.count <= 2 * maximumOctets
    else { return nil }
    return (0..<audio.count).map { index in
      let value = memory.loadUnaligned(fromByteOffset: index * MemoryLayout<Float>.stride, as: Float.self)
      // Not a number is less than nothing.
      return value >= -1 ? min(value, 1) : -1
    }
  }

  func conceal(duration: Int) -> AudioSamples { spread(extrapolation.conceal(duration)) }

  private func spread(_ samples: [Float]) -> AudioSamples {
    AudioSamples(samples: channels == 1 ? samples : samples.flatMap { [$0, $0] }, channels: channels)
  }

  /// 120 ms.
  private static let maximumOctets = 960
}
