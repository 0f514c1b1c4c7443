import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP

/// Makes the packets of VP9 pictures, each with a sequence number.
struct VP9PictureMaker {
  /// Sets the fields of a layer frame's descriptor.
  typealias Describe = (_ picture: Int, _ layer: Int, inout VP9PayloadDescriptor) -> Void

  var maximumPart = 400
  var setsMarkers = true
  private let start = MonotonicInstant.now
  private var sequence = 0

  /// Returns the packets of one picture.
  ///
  /// - Parameters:
  ///   - layers: the frame of each spatial layer.
  ///   - describe: by default the layer indices are set if there are several.
  mutating func packets(
    _ picture: Int, _ layers: [ByteBuffer], isKeyframe: Bool, describe: Describe = { _, _, _ in }
  ) -> [PicturePacket] {
    var packets: [PicturePacket] = []
    for (layer, frame) in layers.enumerated() {
      var descriptor = VP9PayloadDescriptor(
        pictureID: .init(UInt16(picture & 0x7FFF)), isInterPicturePredicted: !isKeyframe, startsFrame: true,
        endsFrame: false)
      if layers.count > 1 {
        descriptor.layers = .init(spatial: UInt8(layer), isInterLayerPredicted: layer > 0)
        descriptor.mode = .nonFlexible(baseLayerIndex: UInt8(picture & 0xFF))
      }
      describe(picture, layer, &descriptor)
      var rest = frame
      while let part = rest.readSlice(length: min(maximumPart, rest.readableBytes)), part.readableBytes > 0 {
        descriptor.endsFrame = rest.readableBytes == 0
        var payload = ByteBuffer()
        descriptor.write(into: &payload)
        payload.writeImmutableBuffer(part)
        let isLast = descriptor.endsFrame && layer == layers.count - 1
        packets.append(
          PicturePacket(
            sequence: sequence, picture: picture,
            packet: ReceivedPacket(
              payload: payload, timestamp: UInt32(picture) &* 3_000, marker: isLast && setsMarkers,
              arrival: start + .milliseconds(picture * 33))))
        sequence += 1
        descriptor.startsFrame = false
      }
    }
    return packets
  }
}

typealias VP9Playback = ReceiverPlayback<VP9Receiver>
