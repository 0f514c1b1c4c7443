import CVPX

/// Encodes frames to one VP8 stream in real time.
package final class VP8Encoder: VPXEncoder {
  package init(_ settings: Settings) throws(CodecError) {
    try super.init(
      Format(
        name: "VP8", interface: vpx_codec_vp8_cx(), start: { chatbot_vp8_encoder_init($0, $1) },
        control: { context, settings in
          // A negative speed is used as it is; a positive one would adapt to the machine's load, so no two runs would be
          // alike.
          _ = chatbot_vpx_encoder_set_speed(context, -Int32(clamping: settings.speed))
          _ = chatbot_vpx_encoder_set_static_threshold(context, 1)
        }), settings)
  }
}
