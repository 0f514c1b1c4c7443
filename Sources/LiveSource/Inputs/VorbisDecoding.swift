import CVorbis
import NIOCore

/// Decodes Vorbis packets with libvorbis, mixed to at most two channels and resampled to 48 kHz.
final class VorbisDecoding: AudioDecoding {
  /// libvorbis' structures contain pointers to each other, so they must not move.
  private let decoder: UnsafeMutablePointer<chatbot_vorbis>
  private let mix: ChannelMix
  private let rate: Int
  private let resampler: Resampler?

  var channels: Int { mix.outputs }

  /// - Parameter codecPrivate: the three headers as stored by Matroska: their number minus one, the lengths of the
  ///   first two in Xiph lacing, then all three.
  init(_ codecPrivate: [UInt8]) throws(InputError) {
    let decoder = UnsafeMutablePointer<chatbot_vorbis>.allocate(capacity: 1)
    self.decoder = decoder
    chatbot_vorbis_begin(decoder)
    do throws(InputError) {
      let headers = try Self.headers(codecPrivate)
      let areTaken = headers.allSatisfy { header in
        header.withUnsafeBytes { chatbot_vorbis_header(decoder, $0.baseAddress, $0.count) != 0 }
      }
      guard areTaken else { throw Self.malformed }
      let rate = Int(decoder.pointee.info.rate)
      let channels = Int(decoder.pointee.info.channels)
      guard SampleFile.rates.contains(rate), (1...SampleFile.maximumChannels).contains(channels) else {
        throw InputError("its Vorbis audio has \(channels) channels and a sample rate of \(rate) Hz")
      }
      guard chatbot_vorbis_ready(decoder) != 0 else { throw Self.malformed }
      self.rate = rate
      mix = ChannelMix(channels: channels)
      resampler = rate == 48_000 ? nil : try Resampler(rate: rate, channels: mix.outputs)
    } catch {
      chatbot_vorbis_end(decoder)
      decoder.deallocate()
      throw error
    }
  }

  deinit {
    chatbot_vorbis_end(decoder)
    decoder.deallocate()
  }

  func decode(_ packet: ByteBuffer) throws(InputError) -> (samples: [Float], ticks: Int64) {
    let isDecoded = packet.withUnsafeReadableBytes { bytes in
      chatbot_vorbis_decode(decoder, bytes.baseAddress, bytes.count) != 0
    }
    guard isDecoded else { throw InputError("a packet of \(packet.readableBytes) bytes is not Vorbis") }
    let frames = Int(chatbot_vorbis_waiting(decoder))
    guard frames > 0 else { return ([], 0) }
    let samples = [Float](unsafeUninitializedCapacity: frames * mix.inputs) { buffer, count in
      chatbot_vorbis_take(decoder, buffer.baseAddress)
      count = frames * mix.inputs
    }
    let mixed = mix.mix(samples)
    return (resampler?.process(mixed) ?? mixed, Resampler.ticks(of: Int64(frames), rate: rate))
  }

  func finish() -> [Float] { resampler?.finish() ?? [] }

  private static let malformed = InputError("its Vorbis headers are malformed")

  private static func headers(_ bytes: [UInt8]) throws(InputError) -> [ArraySlice<UInt8>] {
    guard bytes.first == 2 else { throw malformed }
    var position = 1
    var lengths: [Int] = []
    for _ in 0..<2 {
      var length = 0
      while position < bytes.count {
        length += Int(bytes[position])
        position += 1
        if bytes[position - 1] < 255 { break }
      }
      lengths.append(length)
    }
    let second = position + lengths[0]
    let third = second + lengths[1]
    guard third < bytes.count else { throw malformed }
    return [bytes[position..<second], bytes[second..<third], bytes[third...]]
  }
}
