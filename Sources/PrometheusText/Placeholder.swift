enum PrometheusTextPlaceholder {}
