import CVPX

/// Encodes frames to one VP9 stream of profile 0 in real time, with one spatial and one temporal layer.
package final class VP9Encoder: VPXEncoder {
  package init(_ settings: Settings) throws(CodecError) {
    try super.init(
      Format(
        name: "VP9", interface: vpx_codec_vp9_cx(), start: { chatbot_vp9_encoder_init($0, $1) },
        control: { context, settings in
          // The fastest speed of VP9 is 9. From 5 on, libvpx with a constant bitrate codes now and then a black and a white block
          // side by side as one grey one, whatever the bitrate is.
          let fastest = settings.keepsEdges ? 4 : 9
          _ = chatbot_vpx_encoder_set_speed(context, Int32(clamping: min(max(0, settings.speed), fastest)))
          _ = chatbot_vpx_encoder_set_static_threshold(context, 1)
          _ = chatbot_vp9_encoder_set_row_multithreading(context, 1)
          // Refreshes a part of each frame, as libwebrtc does: quality recovers without keyframes.
          _ = chatbot_vp9_encoder_set_adaptive_quantization(context, 3)
        }), settings)
  }
}
